// Words quoted as for a shell, of #@ lines and of lines that call execute_remote; nothing is expanded.

/** Null: a quote is not closed. */
export function splitOptionWords(text: string): string[] | null {
  return splitQuotedWords(text)?.map(unquote) ?? null;
}

/** With their quotes. Null: a quote is not closed. `end`: what a word after the last one begins with, such as a comment. */
export function splitQuotedWords(text: string, end?: string): string[] | null {
  const words: string[] = [];
  let rest = skipBlanks(text);
  while (rest !== "" && (end === undefined || !rest.startsWith(end))) {
    const [word = ""] = /^(?:[^\s'"\\]|\\[^\n]|'[^']*'|"(?:[^"\\]|\\.)*")*/s.exec(rest) ?? [];
    if (word === "" || !/^(\s|\\\n|$)/.test(rest.slice(word.length))) return null;
    words.push(word);
    rest = skipBlanks(rest.slice(word.length));
  }
  return words;
}

/** A backslash at the end of a line joins it with the next. */
function skipBlanks(text: string): string {
  return text.replace(/^(?:\s|\\\n)+/, "");
}

export function unquote(word: string): string {
  return word.replace(/'([^']*)'|"((?:[^"\\]|\\.)*)"|\\(.)/gs, (_, single, double, escaped) => {
    if (single !== undefined) return single;
    return double === undefined ? escaped : double.replace(/\\\n/g, "").replace(/\\([\\"$`])/g, "$1");
  });
}

/** What of it the quotes do not hold. */
export function outsideQuotes(word: string): string {
  return word.replace(/'[^']*'|"(?:[^"\\]|\\.)*"|\\./gs, "");
}
