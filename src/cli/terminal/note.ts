// Prints a note to stderr, without anything that a terminal would obey.

import { printable } from "../../report/text/printable.js";

export function note(message: string): void {
  process.stderr.write(`${printable(message)}\n`);
}
