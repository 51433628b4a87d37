// Words of the definitions that go into shell scripts as they are.

/** Throws for a word that a shell would not take for itself. */
export function plainWord(word: string): string {
  if (/^[\w.@+-]+$/.test(word)) return word;
  throw new Error(`"${word}" cannot be completed: it has characters that mean something to a shell`);
}
