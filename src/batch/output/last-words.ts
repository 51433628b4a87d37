// The end of what a job printed, from job_results/: for a line that says why it failed, or how far it is.

import { closeSync, fstatSync, openSync, readSync, statSync } from "node:fs";
import { END_BYTES, lastLines } from "../../remote/spool/stream-ends.js";
import type { Results } from "../../run/home/results.js";

/** Enough for the last line of a traceback. */
const TAIL_BYTES = 4096;

/** Of its stderr, or of its stdout if that is blank; unchanged, so not safe to print. Empty: there is none. */
export function loadLastWords(results: Results, name: string): string {
  const errors = loadTail(results.streamPath(name, "err"));
  return errors.trim() === "" ? loadTail(results.streamPath(name, "out")) : errors;
}

/** As in the news of a failure. Null: there is none. */
export function loadLastLines(results: Results, name: string, stream: "out" | "err"): string | null {
  const tail = loadTail(results.streamPath(name, stream));
  return tail === "" ? null : lastLines(Buffer.from(tail).subarray(-END_BYTES));
}

/** The same for a job that runs: of the stream that was written to last, if there is something in it. */
export function loadLatestWords(results: Results, name: string): string {
  const paths = (["out", "err"] as const).map((stream) => results.streamPath(name, stream));
  const [out, err] = paths.map((path) => ({ words: loadTail(path), at: timeOf(path) }));
  if (out === undefined || err === undefined) return "";
  const [latest, other] = err.at > out.at ? [err, out] : [out, err];
  return latest.words.trim() === "" ? other.words : latest.words;
}

function timeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
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
