// job_results/<job>.out and .err while their jobs run: pieces are written where they belong, however often they come.

import { constants, existsSync } from "node:fs";
import { type FileHandle, open, rename, stat } from "node:fs/promises";
import { parseAttemptKey } from "../model/job.js";
import type { OutputPosition } from "../remote/control.js";
import type { OutputPiece } from "../remote/control-stream.js";
import type { Results } from "./results.js";
import type { Tee } from "./tee.js";

const STREAMS = ["out", "err"] as const;
type Stream = (typeof STREAMS)[number];

/** No file stays open: jobs may be more than a process may have descriptors. */
interface Growing {
  readonly path: string;
  offset: number;
}

type Streams = Readonly<Record<Stream, Growing>>;

/** end() each job that was begun. */
export class OutputFiles {
  readonly #results: Results;
  readonly #begun: Set<string>;
  readonly #growing = new Map<string, Streams>();
  /** Of each name, the attempt whose output grows there. */
  readonly #owners = new Map<string, string>();

  readonly #tee: Tee | null;

  /** `begun`: attempts, as `line attempt`, of which an earlier client has written part. `tee` hears of all that comes. */
  constructor(results: Results, begun: ReadonlySet<string>, tee: Tee | null = null) {
    this.#results = results;
    this.#tee = tee;
    this.#begun = new Set(begun);
  }

  /** Nothing grows where a result is in place, or another attempt's output: an archive brings it whole. */
  async begin(key: string, name: string): Promise<void> {
    if (this.#owners.has(name) || this.#results.has(name)) return;
    const goesOn = this.#isBegun(key);
    const out = await this.#make(name, "out", goesOn);
    this.#growing.set(key, { out, err: await this.#make(name, "err", goesOn) });
    this.#owners.set(name, key);
    for (const position of this.positions([key]))
      await this.#tee?.begin(position, this.#results.streamPath(name, position.stream));
  }

  #isBegun(key: string): boolean {
    return this.#begun.has(attemptOf(key));
  }

  async #make(name: string, stream: Stream, goesOn: boolean): Promise<Growing> {
    const path = this.#results.streamPath(name, stream);
    const size = existsSync(path) ? (await stat(path)).size : 0;
    // What another, unfinished attempt left under this name moves aside.
    if (size > 0 && !goesOn) await this.#moveAside(path);
    await withFile(path, async () => {});
    return { path, offset: goesOn ? size : 0 };
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
    await withFile(growing.path, async (handle) => {
      for (let done = 0; done < bytes.length; ) {
        const { bytesWritten } = await handle.write(bytes, done, bytes.length - done, offset + done);
        done += bytesWritten;
      }
    });
    growing.offset += bytes.length;
    this.#tee?.grow({ key, stream, offset: growing.offset });
  }

  /** `name`: what the attempt's output is about to be put into place as, if it is; nothing of others is then there. */
  async end(key: string, name: string | null): Promise<void> {
    await this.#close(key);
    if (name === null) return;
    const owner = this.#owners.get(name);
    this.#owners.delete(name);
    const isOurs = owner === key || (owner === undefined && this.#isBegun(key));
    await this.#beginTelling(key, name, isOurs);
    // Putting it into place may fail halfway, for want of room, and is then tried again.
    this.#begun.add(attemptOf(key));
    if (isOurs) return;
    if (owner !== undefined) {
      await this.#close(owner);
      await this.tellRest(owner, false);
    }
    for (const stream of STREAMS) {
      const path = this.#results.streamPath(name, stream);
      if (existsSync(path)) await this.#moveAside(path);
    }
  }

  /** For output that comes with an archive: what an earlier client had of it is not told again. */
  async #beginTelling(key: string, name: string, isOurs: boolean): Promise<void> {
    if (this.#tee === null) return;
    for (const stream of STREAMS) {
      const path = this.#results.streamPath(name, stream);
      const offset = isOurs && existsSync(path) ? (await stat(path)).size : 0;
      await this.#tee.begin({ key, stream, offset }, path);
    }
  }

  /** `isInPlace`: all of the attempt's output is where it grew, or was to. */
  async tellRest(key: string, isInPlace: boolean): Promise<void> {
    for (const stream of STREAMS) await this.#tee?.end(key, stream, isInPlace);
  }

  async #close(key: string): Promise<void> {
    const streams = this.#growing.get(key);
    this.#growing.delete(key);
    if (streams === undefined) return;
    for (const { path, offset } of [streams.out, streams.err]) {
      // That an empty file is there is safe with its directory.
      if (offset > 0) await withFile(path, (handle) => handle.sync());
    }
  }
}

/** Makes the file if it is not there. */
async function withFile(path: string, use: (handle: FileHandle) => Promise<void>): Promise<void> {
  const handle = await open(path, constants.O_CREAT | constants.O_WRONLY, 0o600);
  try {
    await use(handle);
  } finally {
    await handle.close();
  }
}

function attemptOf(key: string): string {
  const { line, attempt } = parseAttemptKey(key);
  return `${line} ${attempt}`;
}
