// A word beside what was asked for: to stderr, with nothing in it that a terminal would obey.

import { printable } from "../../report/text/printable.js";

export function note(message: string): void {
  process.stderr.write(`${printable(message)}\n`);
}
