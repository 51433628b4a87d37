// job_results/<job>.out and .err while their jobs run: pieces are written where they belong, however often they come.

import { constants, existsSync } from "node:fs";
import { type FileHandle, open, rename, stat } from "node:fs/promises";
import { parseAttemptKey } from "../model/job.js";
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
  readonly #begun: ReadonlySet<string>;
  readonly #growing = new Map<string, Record<Stream, Growing>>();

  /** `begun`: attempts, as `line attempt`, of which an earlier client has written part. */
  constructor(results: Results, begun: ReadonlySet<string>) {
    this.#results = results;
    this.#begun = begun;
  }

  async begin(key: string, name: string): Promise<void> {
    if (this.#growing.has(key)) return;
    const { line, attempt } = parseAttemptKey(key);
    const goesOn = this.#begun.has(`${line} ${attempt}`);
    const [out, err] = [await this.#open(name, "out", goesOn), await this.#open(name, "err", goesOn)];
    this.#growing.set(key, { out, err });
  }

  async #open(name: string, stream: Stream, goesOn: boolean): Promise<Growing> {
    const path = this.#results.streamPath(name, stream);
    const size = existsSync(path) ? (await stat(path)).size : 0;
    // What another, unfinished attempt left under this name moves aside.
    if (size > 0 && !goesOn) await this.#moveAside(path);
    const handle = await open(path, constants.O_CREAT | constants.O_WRONLY, 0o600);
    return { handle, offset: goesOn ? size : 0 };
  }

  async #moveAside(path: string): Promise<void> {
    let n = 1;
    while (existsSync(`${path}.old-${n}`)) n++;
    await rename(path, `${path}.old-${n}`);
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
