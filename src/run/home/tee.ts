// What jobs print, told line by line (`--tee`), each line once. It is read from where it is kept on this disk, at the pace of
// whoever looks: a reader that stands still holds up neither a machine nor our memory.

import { closeSync, openSync, readSync } from "node:fs";
import { open } from "node:fs/promises";
import { setImmediate as breathe } from "node:timers/promises";
import { parseAttemptKey } from "../../model/attempt-key.js";
import type { RunEvent } from "../../model/event.js";
import type { OutputPosition } from "../../remote/spool/control.js";
import { LineGatherer } from "./line-gatherer.js";

type Stream = OutputPosition["stream"];
type Output = Extract<RunEvent, { kind: "job-output" }>;

/** Resolves when there is room for more, or with the signal. */
export type ShowOutput = (output: Output, signal: AbortSignal) => Promise<void>;

interface Telling {
  readonly path: string;
  readonly lines: LineGatherer;
  /** So many bytes of the stream were told, or wait for the end of their line. */
  offset: number;
  /** So many are there. */
  size: number;
  /** Under way as long as there is something to tell. */
  pumping: Promise<void> | null;
}

const READ_BYTES = 64 << 10;
/** How much of a file is looked at for the beginning of its last line. */
const LAST_LINE_BYTES = 64 << 10;

/** stop() it, or it may wait for a reader. */
export class Tee {
  readonly #show: ShowOutput;
  readonly #stopping = new AbortController();
  readonly #tellings = new Map<string, Telling>();

  constructor(show: ShowOutput) {
    this.#show = show;
  }

  /** If it is not told already. What is before the offset was told by an earlier client, but for its last line. */
  async begin({ key, stream, offset }: OutputPosition, path: string): Promise<void> {
    const id = `${key} ${stream}`;
    if (this.#tellings.has(id)) return;
    const lines = new LineGatherer(offset === 0 ? undefined : await lastLineOf(path, offset));
    this.#tellings.set(id, { path, lines, offset, size: offset, pumping: null });
  }

  /** So much of the stream is in its file by now. */
  grow({ key, stream, offset }: OutputPosition): void {
    const telling = this.#tellings.get(`${key} ${stream}`);
    if (telling === undefined) return;
    telling.size = offset;
    // What could not be read is looked for again at the end.
    telling.pumping ??= this.#pump(key, stream, telling)
      .catch(() => undefined)
      .finally(() => {
        telling.pumping = null;
      });
  }

  /** Tells what is left. `isWhole`: all of the stream is in place; else what has come so far counts. */
  async end(key: string, stream: Stream, isWhole: boolean): Promise<void> {
    const id = `${key} ${stream}`;
    const telling = this.#tellings.get(id);
    if (telling === undefined) return;
    await telling.pumping;
    if (isWhole) telling.size = Number.POSITIVE_INFINITY;
    // What cannot be read is in its place all the same.
    await this.#pump(key, stream, telling).catch(() => undefined);
    await this.#tell(key, stream, telling.lines.end());
    this.#tellings.delete(id);
  }

  stop(): void {
    this.#stopping.abort();
  }

  async #pump(key: string, stream: Stream, telling: Telling): Promise<void> {
    const { path, lines } = telling;
    while (telling.offset < telling.size) {
      const bytes = readAt(path, telling.offset, Math.min(READ_BYTES, telling.size - telling.offset));
      if (bytes.length === 0) return;
      telling.offset += bytes.length;
      await this.#tell(key, stream, lines.take(bytes));
      // A reader that is never full would else leave nothing else a turn.
      await breathe();
    }
  }

  async #tell(key: string, stream: Stream, text: string): Promise<void> {
    const { signal } = this.#stopping;
    if (text === "" || signal.aborted) return;
    await this.#show({ kind: "job-output", at: Date.now(), ...parseAttemptKey(key), stream, text }, signal);
  }
}

/** Open for no longer than the call takes: jobs may be more than a process may have descriptors. */
function readAt(path: string, offset: number, most: number): Buffer {
  const file = openSync(path, "r");
  try {
    const buffer = Buffer.allocUnsafe(most);
    return buffer.subarray(0, readSync(file, buffer, 0, most, offset));
  } finally {
    closeSync(file);
  }
}

async function lastLineOf(path: string, end: number): Promise<Buffer> {
  const handle = await open(path, "r");
  try {
    const start = Math.max(0, end - LAST_LINE_BYTES);
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(end - start), 0, end - start, start);
    return buffer.subarray(buffer.subarray(0, bytesRead).lastIndexOf(10) + 1, bytesRead);
  } finally {
    await handle.close();
  }
}
