// Decides whether a job needs a new shell. A plain command does not: a fork of the slot's waiting bash runs it the same
// way (fork.bash). Starting another shell would take longer than many jobs. Pure.

/** Excludes everything that depends on the shell itself ($$, $0, $-), and nested commands. */
const WORD = String.raw`(?:[\w./:,+@%=~*?^-]|'[^']*'|"[^"$\`\\]*")+`;
const REDIRECTION = String.raw`\d?(?:>>?|<)[ \t]*${WORD}|[12]?>&[12]`;
const PLAIN = new RegExp(
  String.raw`^[ \t]*([\w./+-]+)(?:[ \t]+(?:${REDIRECTION}|${WORD}))*[ \t]*(?:[ \t]#.*)?$`,
);

/**
 * Builtins that change the shell itself, which a fork would not show to the job, and reserved words that begin compound
 * commands. The other builtins only print or test something: echo, printf, test, true, false.
 */
const BY_BASH = new Set(
  `. : alias bg bind break builtin caller cd command compgen complete compopt continue declare dirs disown enable eval exec
  exit export fc fg getopts hash help history jobs kill let local logout mapfile popd pushd pwd read readarray readonly
  return set shift shopt source suspend times trap type typeset ulimit umask unalias unset wait case coproc do done elif
  else esac fi for function if in select then time until while`.split(/\s+/),
);

export function needsOwnShell(line: string): boolean {
  const name = PLAIN.exec(line)?.[1];
  return name === undefined || BY_BASH.has(name);
}
