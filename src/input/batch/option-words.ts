// The words of a #@ line, quoted as for a shell; nothing is expanded.

/** Null: a quote is not closed. */
export function splitOptionWords(text: string): string[] | null {
  const words: string[] = [];
  let rest = text.trim();
  while (rest !== "") {
    const [word = ""] = /^(?:[^\s'"\\]|\\.|'[^']*'|"(?:[^"\\]|\\.)*")*/.exec(rest) ?? [];
    if (word === "" || !/^(\s|$)/.test(rest.slice(word.length))) return null;
    words.push(unquote(word));
    rest = rest.slice(word.length).trimStart();
  }
  return words;
}

function unquote(word: string): string {
  return word.replace(/'([^']*)'|"((?:[^"\\]|\\.)*)"|\\(.)/g, (_, single, double, escaped) => {
    if (single !== undefined) return single;
    return double === undefined ? escaped : double.replace(/\\([\\"$`])/g, "$1");
  });
}
