// Finds the answers of a machine that begin with a word, and returns them without that word.

export function wordsAfter(word: string, lines: readonly string[]): string[] {
  return lines.filter((line) => line.startsWith(`${word} `)).map((line) => line.slice(word.length + 1));
}
