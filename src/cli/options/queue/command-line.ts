// The shell line for the words of a command: one word is a line already, several are arguments that no shell may change.

import { programLine } from "../../../transport/quote.js";

export function commandLine(words: readonly string[]): string {
  return words.length === 1 ? (words[0] ?? "") : programLine(words);
}
