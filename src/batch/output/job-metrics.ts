// Reads a job's metrics from the local disk: the end of its output, and its metrics.json.

import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import path from "node:path";
import type { Metrics } from "../../model/result.js";
import { parseMetrics } from "../../results/parse-metrics.js";
import type { Results } from "../../run/home/results.js";

/** Output may be huge; the metrics are at its end. */
const TAIL_BYTES = 256 << 10;
/** A larger file is not a summary. */
const MOST_FILE_BYTES = 256 << 10;

export function loadMetrics(results: Results, job: string): Metrics {
  const out = readEnd(results.streamPath(job, "out"), TAIL_BYTES);
  const file = readEnd(path.join(results.dir, job, "metrics.json"), MOST_FILE_BYTES);
  return parseMetrics({
    tail: out?.text ?? "",
    isCut: out?.isCut ?? false,
    file: file === null || file.isCut ? null : file.text,
  });
}

/** Null: there is no such file, or it cannot be read. */
function readEnd(file: string, most: number): { text: string; isCut: boolean } | null {
  let fd: number;
  try {
    // A job may leave a link that leads elsewhere, or a pipe without a writer.
    fd = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch {
    return null;
  }
  try {
    const stats = fstatSync(fd);
    if (!stats.isFile()) return null;
    const start = Math.max(0, stats.size - most);
    const bytes = Buffer.alloc(stats.size - start);
    const count = readSync(fd, bytes, 0, bytes.length, start);
    return { text: bytes.toString("utf8", 0, count), isCut: start > 0 };
  } finally {
    closeSync(fd);
  }
}
