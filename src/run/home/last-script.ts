// Finds the script of a record without loading the record.

import { existsSync, readFileSync } from "node:fs";

const RUN_STARTED = '"kind":"run-started"';

/** The script of the last run, as typed; null if there is no record of one. */
export function lastScript(path: string): string | null {
  if (!existsSync(path)) return null;
  const text = readFileSync(path, "utf8");
  // Inside a JSON string the quotes would have backslashes, so this finds only the event itself.
  const start = text.lastIndexOf("\n", text.lastIndexOf(RUN_STARTED)) + 1;
  const end = text.indexOf("\n", start);
  if (end === -1 || !text.slice(start, end).includes(RUN_STARTED)) return null;
  try {
    const { script } = JSON.parse(text.slice(start, end)) as { script?: unknown };
    return typeof script === "string" ? script : null;
  } catch {
    return null;
  }
}
