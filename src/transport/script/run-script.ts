// Runs a short script and gathers its output, within limits.

import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { raceAbort } from "../aborted.js";
import type { ExecEnd, Running, Session } from "../session.js";

export interface ScriptOptions {
  readonly stdin?: Buffer | string | Readable;
  /** As for `Session.exec`. */
  readonly readsNothing?: boolean;
  readonly signal?: AbortSignal;
  /** A longer stdout is an error. */
  readonly maxBytes?: number;
}

export interface Answer {
  readonly stdout: string;
  /** Its last 64 kB. */
  readonly stderr: string;
  readonly end: ExecEnd;
}

/** The machine's fault: its hint tells callers so. */
class AnswerTooLong extends Error {
  readonly hint = null;

  constructor(maxBytes: number) {
    super(`a script printed more than the allowed ${maxBytes} bytes`);
    this.name = "AnswerTooLong";
  }
}

const MAX_STDOUT_BYTES = 8 * 1024 * 1024;
const KEPT_STDERR_BYTES = 64 * 1024;

/** Rejects if aborted (with the signal's reason) or if stdout exceeds its limit; a lost connection is an `end`. */
export async function runScript(
  session: Session,
  script: string,
  options: ScriptOptions = {},
): Promise<Answer> {
  const { signal, maxBytes = MAX_STDOUT_BYTES, readsNothing } = options;
  signal?.throwIfAborted();
  const abort = raceAbort(signal);
  const opening = session.exec(script, readsNothing);
  try {
    const running = await abort.race(opening);
    return await abort.race(gather(running, options.stdin, maxBytes));
  } catch (error) {
    opening.then(
      (running) => running.close(),
      () => {},
    );
    throw error;
  } finally {
    abort.done();
  }
}

async function gather(running: Running, stdin: ScriptOptions["stdin"], maxBytes: number): Promise<Answer> {
  const [stdout, stderr, end] = await Promise.all([
    readAll(running.stdout, maxBytes),
    readTail(running.stderr, KEPT_STDERR_BYTES),
    running.ended,
    feed(running, stdin),
  ]);
  return { stdout, stderr, end };
}

async function readAll(stream: Readable, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new AnswerTooLong(maxBytes);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

async function readTail(stream: Readable, keptBytes: number): Promise<string> {
  let tail = Buffer.alloc(0);
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    tail = Buffer.concat([tail, chunk]);
    if (tail.length > 2 * keptBytes) tail = tail.subarray(-keptBytes);
  }
  return tail.subarray(-keptBytes).toString();
}

async function feed({ stdin }: Running, data: ScriptOptions["stdin"]): Promise<void> {
  if (data === undefined || typeof data === "string" || Buffer.isBuffer(data)) {
    stdin.end(data ?? "");
    return;
  }
  let readError: unknown;
  // A script may end before it has read everything. Then the source is destroyed, with the error of stdin. Only a source that
  // fails first is a failure.
  let isClosed = !stdin.writable;
  const onClosed = () => {
    isClosed = true;
  };
  stdin.once("error", onClosed).once("close", onClosed);
  data.once("error", (error) => {
    if (!isClosed) readError = error;
  });
  await pipeline(data, stdin).catch(() => {
    if (readError !== undefined) throw readError;
  });
}
