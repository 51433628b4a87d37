// Splits the words of #@ lines, and of lines that call execute_remote, with shell quotes; expands nothing.

/** Null: a quote is not closed. */
export function splitOptionWords(text: string): string[] | null {
  return splitQuotedWords(text)?.map(unquote) ?? null;
}

/** Keeps the quotes. Null: a quote is not closed. `end`: the beginning of a word that ends the list, such as a comment. */
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

/** A backslash at the end of a line joins it to the next one. */
function skipBlanks(text: string): string {
  return text.replace(/^(?:\s|\\\n)+/, "");
}

export function unquote(word: string): string {
  return word.replace(/'([^']*)'|"((?:[^"\\]|\\.)*)"|\\(.)/gs, (_, single, double, escaped) => {
    if (single !== undefined) return single;
    return double === undefined ? escaped : double.replace(/\\\n/g, "").replace(/\\([\\"$`])/g, "$1");
  });
}

/** The part of it that is not in quotes. */
export function outsideQuotes(word: string): string {
  return word.replace(/'[^']*'|"(?:[^"\\]|\\.)*"|\\./gs, "");
}
