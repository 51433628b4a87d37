// Answers of a machine that begin with a word, without that word.

export function wordsAfter(word: string, lines: readonly string[]): string[] {
  return lines.filter((line) => line.startsWith(`${word} `)).map((line) => line.slice(word.length + 1));
}
