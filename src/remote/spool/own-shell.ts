// Whether a job needs a shell of its own. A line that is one plain command does not: a fork of the bash that
// its slot has ready runs it just the same (fork.bash), and starting another would take longer than many a job. Pure.

/** Nothing that a shell could tell of itself ($$, $0, $-), and no other command within. */
const WORD = String.raw`(?:[\w./:,+@%=~*?^-]|'[^']*'|"[^"$\`\\]*")+`;
const REDIRECTION = String.raw`\d?(?:>>?|<)[ \t]*${WORD}|[12]?>&[12]`;
const PLAIN = new RegExp(String.raw`^[ \t]*([\w./+-]+)(?:[ \t]+(?:${REDIRECTION}|${WORD}))*[ \t]*$`);

/**
 * What bash does itself, to itself: a fork is not the shell that a job would expect. Reserved words begin more than one
 * command. The rest of its builtins only say something: echo, printf, test, true, false.
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
