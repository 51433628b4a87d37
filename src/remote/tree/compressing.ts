// Decides whether compression pays: the data must be large and compressible, and the connection slow. Each question is
// asked only if the one before says yes; the connection comes last, because measuring it takes time.

import { randomBytes } from "node:crypto";
import { closeSync, openSync, readSync } from "node:fs";
import path from "node:path";
import { gzipSync } from "node:zlib";
import type { Session } from "../../transport/session.js";
import { shortLines } from "../engine/line-limit.js";
import { bytesOf, type TreeEntry } from "./tree.js";

const MIN_BYTES = 16e6;
const SAMPLES = 8;
const SAMPLE_BYTES = 1 << 16;
const WORTHWHILE_SHARE = 0.7;
/** A core compresses several times this much per second. */
const SLOW_BYTES_PER_SECOND = 10e6;
const FIRST_TRIAL_BYTES = 1 << 18;
const LAST_TRIAL_BYTES = 1 << 22;
const TRIAL_SECONDS = 0.3;

/** Judged by a few samples. */
export function shrinks(dir: string, entries: readonly TreeEntry[]): boolean {
  const files = entries.flatMap((entry) => (entry.type === "File" && entry.size > 0 ? [entry] : []));
  if (bytesOf(files) < MIN_BYTES) return false;
  // Spread evenly over all bytes, so that large files count for more.
  const step = Math.floor(bytesOf(files) / SAMPLES);
  const samples: Buffer[] = [];
  let passed = 0;
  for (const file of files) {
    while (samples.length * step < passed + file.size && samples.length < SAMPLES)
      samples.push(readSample(path.join(dir, file.path), samples.length * step - passed));
    passed += file.size;
  }
  const sample = Buffer.concat(samples);
  return gzipSync(sample, { level: 1 }).length < WORTHWHILE_SHARE * sample.length;
}

/** A file that cannot be read gives no sample; sending it will report the reason. */
function readSample(file: string, offset: number): Buffer {
  const sample = Buffer.alloc(SAMPLE_BYTES);
  try {
    const handle = openSync(file, "r");
    try {
      return sample.subarray(0, readSync(handle, sample, { position: offset }));
    } finally {
      closeSync(handle);
    }
  } catch {
    return Buffer.alloc(0);
  }
}

/** False if it cannot be measured, for example if a server allows no further session. */
export async function isSlow(session: Session, signal: AbortSignal): Promise<boolean> {
  try {
    return await measuresSlow(session, signal);
  } catch {
    signal.throwIfAborted();
    return false;
  }
}

/** The first trial is short, and shows how long the second one may be. */
async function measuresSlow(session: Session, signal: AbortSignal): Promise<boolean> {
  const first = await trial(session, FIRST_TRIAL_BYTES, signal);
  if (first >= SLOW_BYTES_PER_SECOND) return false;
  const bytes = Math.min(LAST_TRIAL_BYTES, Math.round(first * TRIAL_SECONDS));
  return bytes <= FIRST_TRIAL_BYTES || (await trial(session, bytes, signal)) < SLOW_BYTES_PER_SECOND;
}

/**
 * Bytes per second, measured with random bytes, because some connections compress. A lost connection counts as
 * infinitely fast.
 */
async function trial(session: Session, bytes: number, signal: AbortSignal): Promise<number> {
  signal.throwIfAborted();
  const running = await session.exec("echo ready; cat >/dev/null; echo done");
  const abort = () => running.close();
  signal.addEventListener("abort", abort, { once: true });
  running.stderr.resume();
  let begunAt = 0;
  try {
    for await (const line of shortLines(running.stdout, "it")) {
      if (line === "done") return (1000 * bytes) / Math.max(1, performance.now() - begunAt);
      begunAt = performance.now();
      running.stdin.end(randomBytes(bytes));
    }
    signal.throwIfAborted();
    return Number.POSITIVE_INFINITY;
  } finally {
    signal.removeEventListener("abort", abort);
    running.close();
  }
}
