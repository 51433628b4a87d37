// Names the missing parts of a job's results in a few words.

import { printable } from "../text/printable.js";

const NAMED = 3;

/** "model.bin, logs/ and 3 more". */
export function missingText(missing: readonly string[]): string {
  const named = missing.slice(0, NAMED).map(printable).join(", ");
  const more = missing.length - NAMED;
  return more > 0 ? `${named} and ${more} more` : named;
}
