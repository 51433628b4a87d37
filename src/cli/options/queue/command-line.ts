// The shell line for the words of a command: one word is a line already, several are arguments that no shell may change.

import { quote, quoteIfNeeded } from "../../../transport/quote.js";

/** As a first word without quotes, the shell would not run a program of that name. */
const RESERVED = new Set(
  "case coproc do done elif else esac fi for function if in select then time until while".split(" "),
);

export function commandLine(words: readonly string[]): string {
  const [first = "", ...rest] = words;
  if (rest.length === 0) return first;
  return [RESERVED.has(first) ? quote(first) : quoteIfNeeded(first), ...rest.map(quoteIfNeeded)].join(" ");
}
