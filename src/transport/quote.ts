// Words for POSIX sh. Remote commands are built from words, never glued from strings.

/** One word of POSIX sh that means exactly `word`, whatever is in it. */
export function quote(word: string): string {
  if (word.includes("\0")) throw new Error(`no shell word can hold a NUL byte: ${JSON.stringify(word)}`);
  return `'${word.replaceAll("'", "'\\''")}'`;
}

/** sh`cd -- ${dir}`: every ${} arrives as exactly one word, an array as one word for each element. */
export function sh(
  strings: TemplateStringsArray,
  ...values: readonly (string | number | readonly string[])[]
): string {
  return strings.reduce((text, next, i) => text + words(values[i - 1] ?? "") + next);
}

function words(value: string | number | readonly string[]): string {
  return typeof value === "object" ? value.map(quote).join(" ") : quote(String(value));
}

/** For people to read and paste: quoted only where that is needed. */
export function quoteIfNeeded(word: string): string {
  return /^[\w./:@%+,-]+$/.test(word) ? word : quote(word);
}
