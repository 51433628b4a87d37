// job_results/<job>.out and .err while their jobs run: pieces are written where they belong, however often they come.

import { existsSync } from "node:fs";
import { type FileHandle, open, rename } from "node:fs/promises";
import type { OutputPosition } from "../remote/control.js";
import type { OutputPiece } from "../remote/control-stream.js";
import type { Results } from "./results.js";

const STREAMS = ["out", "err"] as const;
type Stream = (typeof STREAMS)[number];

interface Growing {
  readonly handle: FileHandle;
  offset: number;
}

/** Owns open files: end() each job that was begun. */
export class OutputFiles {
  readonly #results: Results;
  readonly #growing = new Map<string, Record<Stream, Growing>>();

  constructor(results: Results) {
    this.#results = results;
  }

  /** What an earlier, unfinished attempt left under these names moves aside. */
  async begin(key: string, name: string): Promise<void> {
    if (this.#growing.has(key)) return;
    this.#growing.set(key, { out: await this.#create(name, "out"), err: await this.#create(name, "err") });
  }

  async #create(name: string, stream: Stream): Promise<Growing> {
    const path = this.#results.streamPath(name, stream);
    if (existsSync(path)) {
      let n = 1;
      while (existsSync(`${path}.old-${n}`)) n++;
      await rename(path, `${path}.old-${n}`);
    }
    return { handle: await open(path, "wx", 0o600), offset: 0 };
  }

  /** How far each stream of these jobs has come. */
  positions(keys: Iterable<string>): OutputPosition[] {
    const found: OutputPosition[] = [];
    for (const key of keys) {
      const streams = this.#growing.get(key);
      if (streams) for (const stream of STREAMS) found.push({ key, stream, offset: streams[stream].offset });
    }
    return found;
  }

  /** Streams of which nothing is here yet: an archive can bring them whole. */
  untouched(key: string): Stream[] {
    const streams = this.#growing.get(key);
    return STREAMS.filter((stream) => streams === undefined || streams[stream].offset === 0);
  }

  async write({ key, stream, offset, bytes }: OutputPiece): Promise<void> {
    const growing = this.#growing.get(key)?.[stream];
    if (growing === undefined || growing.offset !== offset) return;
    for (let done = 0; done < bytes.length; ) {
      const { bytesWritten } = await growing.handle.write(bytes, done, bytes.length - done, offset + done);
      done += bytesWritten;
    }
    growing.offset += bytes.length;
  }

  async end(key: string): Promise<void> {
    const streams = this.#growing.get(key);
    this.#growing.delete(key);
    if (streams === undefined) return;
    for (const stream of STREAMS) {
      await streams[stream].handle.sync();
      await streams[stream].handle.close();
    }
  }
}
