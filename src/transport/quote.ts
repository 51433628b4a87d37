// Words for POSIX sh. Remote commands are built from words, never from concatenated strings.

/** One word of POSIX sh that means exactly `word`, with any characters. */
export function quote(word: string): string {
  if (word.includes("\0")) throw new Error(`no shell word can hold a NUL byte: ${JSON.stringify(word)}`);
  return `'${word.replaceAll("'", "'\\''")}'`;
}

/** sh`cd -- ${dir}`: every ${} becomes exactly one word, and an array one word per element. */
export function sh(
  strings: TemplateStringsArray,
  ...values: readonly (string | number | readonly string[])[]
): string {
  return strings.reduce((text, next, i) => text + words(values[i - 1] ?? "") + next);
}

function words(value: string | number | readonly string[]): string {
  return typeof value === "object" ? value.map(quote).join(" ") : quote(String(value));
}

/** For people to read and paste: quoted only if needed. */
export function quoteIfNeeded(word: string): string {
  return /^[\w./:@%+,-]+$/.test(word) ? word : quote(word);
}

/** As a first word without quotes, the shell would not run a program of that name. */
const RESERVED = new Set(
  "case coproc do done elif else esac fi for function if in select then time until while".split(" "),
);

/** The line that runs a program with arguments that no shell may change. */
export function programLine([first = "", ...rest]: readonly string[]): string {
  return [RESERVED.has(first) ? quote(first) : quoteIfNeeded(first), ...rest.map(argument)].join(" ");
}

/** Behind a program, `lr=0.01` sets no variable. */
function argument(word: string): string {
  return /^[\w./:@%+,-][\w./:@%+,=-]*$/.test(word) ? word : quoteIfNeeded(word);
}
