// A quick look at one line: is it surely a whole command in valid bash? "No" only means that bash must be asked.

/** Words, quotes, variables, redirections, pipes and lists; nothing that could continue on the next line. */
export function isPlainCommand(text: string): boolean {
  let command = newCommand(true);
  for (let at = skipBlanks(text, 0); at < text.length; at = skipBlanks(text, at)) {
    if (text[at] === "#") break;
    const operator = operatorAt(text, at);
    if (operator === null) {
      const end = wordEnd(text, at);
      if (end === -1 || !isWordFine(command, text.slice(at, end), text[end])) return false;
      at = end;
    } else {
      if (command.wantsTarget || NOT_PLAIN.has(operator)) return false;
      if (isRedirection(operator)) command.wantsTarget = true;
      else if (command.isEmpty) return false;
      else command = newCommand(operator !== ";" && operator !== "&");
      at += operator.length;
    }
  }
  return !command.wantsTarget && !(command.isEmpty && command.isNeeded);
}

/** One command of a list or pipe, while it is being read. */
interface Command {
  /** After a pipe, && or ||. */
  readonly isNeeded: boolean;
  isEmpty: boolean;
  /** Only assignments and redirections so far: a reserved word would have its special meaning. */
  isAtName: boolean;
  /** After a redirection. */
  wantsTarget: boolean;
}

function newCommand(isNeeded: boolean): Command {
  return { isNeeded, isEmpty: true, isAtName: true, wantsTarget: false };
}

const RESERVED = new Set(
  "! [[ ]] { } case coproc do done elif else esac fi for function if in select then time until while".split(
    " ",
  ),
);

function isWordFine(command: Command, word: string, next: string | undefined): boolean {
  command.isEmpty = false;
  if (command.wantsTarget) {
    command.wantsTarget = false;
    // In `> 2> x` the 2 belongs to the second redirection.
    return next !== "<" && next !== ">";
  }
  if (!command.isAtName) return true;
  // After a name, bash reads a subscript including blanks.
  if (RESERVED.has(word) || word.indexOf("[") > 0) return false;
  // Before a redirection it may be a file descriptor.
  command.isAtName = next === "<" || next === ">" || /^[A-Za-z_]\w*\+?=/.test(word);
  return true;
}

const OPERATOR = /;[;&]|[<>]&-|&>>?|&&|\|\||\|&|<<<|<<|<>|<&|>>|>&|>\||[<>|;&]/y;

const NOT_PLAIN = new Set(["<<", ";;", ";&", "<&-", ">&-"]);

function operatorAt(text: string, at: number): string | null {
  OPERATOR.lastIndex = at;
  return OPERATOR.exec(text)?.[0] ?? null;
}

function isRedirection(operator: string): boolean {
  return operator.includes("<") || operator.includes(">");
}

function skipBlanks(text: string, from: number): number {
  let at = from;
  while (text[at] === " " || text[at] === "\t") at += 1;
  return at;
}

/** The end of the word that begins at `from`; -1: bash must be asked. */
function wordEnd(text: string, from: number): number {
  let at = lettersEnd(text, from);
  while (at < text.length && !" \t|&;<>".includes(text.charAt(at))) {
    at = partEnd(text, at);
    if (at === -1) return -1;
    at = lettersEnd(text, at);
  }
  return at;
}

const LETTERS = /[\w./=:,+@%-]*/y;

/** Skips the plain letters of a word in one step. */
function lettersEnd(text: string, from: number): number {
  LETTERS.lastIndex = from;
  LETTERS.test(text);
  return LETTERS.lastIndex;
}

function partEnd(text: string, at: number): number {
  const char = text.charAt(at);
  if (char === "'") return text.indexOf("'", at + 1) + 1 || -1;
  if (char === '"') return doubleQuotesEnd(text, at + 1);
  if (char === "\\") return escapeEnd(text, at);
  if (char === "$") return dollarEnd(text, at, "(['\"");
  return char < " " || char === "\x7f" || "()`".includes(char) ? -1 : at + 1;
}

function doubleQuotesEnd(text: string, from: number): number {
  let at = from;
  while (at !== -1 && at < text.length) {
    const char = text.charAt(at);
    if (char === '"') return at + 1;
    if (char === "`") return -1;
    if (char === "\\") at = escapeEnd(text, at);
    else if (char === "$") at = dollarEnd(text, at, "([");
    else at += 1;
  }
  return -1;
}

function escapeEnd(text: string, at: number): number {
  return at + 1 < text.length ? at + 2 : -1;
}

const VARIABLE = /\$(?:[A-Za-z_]\w*|[0-9@*#?$!-]|\{\w+\})/y;

/** `odd`: characters after a $ that begin something this function does not parse. */
function dollarEnd(text: string, at: number, odd: string): number {
  VARIABLE.lastIndex = at;
  const variable = VARIABLE.exec(text);
  if (variable !== null) return at + variable[0].length;
  const next = text.charAt(at + 1);
  return next === "{" || (next !== "" && odd.includes(next)) ? -1 : at + 1;
}
