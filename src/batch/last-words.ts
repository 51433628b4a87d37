// Reads the end of a job's output from job_results/, for a line that shows why it failed.

import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import type { Results } from "../run/home/results.js";

/** Enough for the last line of a traceback. */
const TAIL_BYTES = 4096;

/** Of its stderr, or of its stdout if that is blank; unchanged, so not safe to print. Empty: there is none. */
export function loadLastWords(results: Results, name: string): string {
  const errors = loadTail(results.streamPath(name, "err"));
  return errors.trim() === "" ? loadTail(results.streamPath(name, "out")) : errors;
}

function loadTail(path: string): string {
  try {
    const file = openSync(path, "r");
    try {
      const { size } = fstatSync(file);
      const bytes = Buffer.alloc(Math.min(size, TAIL_BYTES));
      return bytes.toString("utf8", 0, readSync(file, bytes, 0, bytes.length, size - bytes.length));
    } finally {
      closeSync(file);
    }
  } catch {
    // Removed or unreadable results have no output; the report continues without it.
    return "";
  }
}
