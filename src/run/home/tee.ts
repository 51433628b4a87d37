// Prints the output of jobs line by line (`--tee`), each line once. It reads from the local files at the reader's pace,
// so a slow reader delays no machine and fills no memory.

import { open } from "node:fs/promises";
import { setImmediate as breathe } from "node:timers/promises";
import { parseAttemptKey } from "../../model/attempt-key.js";
import type { RunEvent } from "../../model/event.js";
import type { OutputPosition } from "../../remote/spool/control.js";
import { LineGatherer } from "./line-gatherer.js";
import { readPart } from "./read-part.js";

type Stream = OutputPosition["stream"];
type Output = Extract<RunEvent, { kind: "job-output" }>;

/** Resolves when the reader has room for more, or when the signal aborts. */
export type ShowOutput = (output: Output, signal: AbortSignal) => Promise<void>;

interface Telling {
  readonly path: string;
  readonly lines: LineGatherer;
  /** How many bytes of the stream were printed or wait for the end of their line. */
  offset: number;
  /** How many bytes the file has. */
  size: number;
  /** Not null while there is something to print. */
  pumping: Promise<void> | null;
}

const READ_BYTES = 64 << 10;
/** How much of a file is searched for the beginning of its last line. */
const LAST_LINE_BYTES = 64 << 10;

/** Call stop(), because it may wait for a reader. */
export class Tee {
  readonly #show: ShowOutput;
  readonly #stopping = new AbortController();
  readonly #tellings = new Map<string, Telling>();

  constructor(show: ShowOutput) {
    this.#show = show;
  }

  /**
   * Does nothing if the stream is already being printed. An earlier client printed the text before the offset, except
   * its last line.
   */
  async begin({ key, stream, offset }: OutputPosition, path: string): Promise<void> {
    const id = `${key} ${stream}`;
    if (this.#tellings.has(id)) return;
    const lines = new LineGatherer(offset === 0 ? undefined : await lastLineOf(path, offset));
    this.#tellings.set(id, { path, lines, offset, size: offset, pumping: null });
  }

  /** The file now has this much of the stream. */
  grow({ key, stream, offset }: OutputPosition): void {
    const telling = this.#tellings.get(`${key} ${stream}`);
    if (telling === undefined) return;
    telling.size = offset;
    // After a read error, the end is read again in end().
    telling.pumping ??= this.#pump(key, stream, telling)
      .catch(() => undefined)
      .finally(() => {
        telling.pumping = null;
      });
  }

  /** Prints the rest. `isWhole`: the whole stream is in place; otherwise the part that has arrived counts. */
  async end(key: string, stream: Stream, isWhole: boolean): Promise<void> {
    const id = `${key} ${stream}`;
    const telling = this.#tellings.get(id);
    if (telling === undefined) return;
    await telling.pumping;
    if (isWhole) telling.size = Number.POSITIVE_INFINITY;
    // A file that cannot be read is still in its place.
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
      const bytes = readPart(path, telling.offset, Math.min(READ_BYTES, telling.size - telling.offset));
      if (bytes.length === 0) return;
      telling.offset += bytes.length;
      await this.#tell(key, stream, lines.take(bytes));
      // Without this, a reader that is never full would block everything else.
      await breathe();
    }
  }

  async #tell(key: string, stream: Stream, text: string): Promise<void> {
    const { signal } = this.#stopping;
    if (text === "" || signal.aborted) return;
    await this.#show({ kind: "job-output", at: Date.now(), ...parseAttemptKey(key), stream, text }, signal);
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
