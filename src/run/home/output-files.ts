// job_results/<job>.out and .err while their jobs run. Each piece is written to its offset, even if it arrives twice.

import { existsSync, statSync } from "node:fs";
import { open, stat } from "node:fs/promises";
import path from "node:path";
import { parseAttemptKey } from "../../model/attempt-key.js";
import type { OutputLimit } from "../../model/output-limit.js";
import type { Past } from "../../plan/fold/read-past.js";
import type { OutputPosition } from "../../remote/spool/control.js";
import type { OutputPiece } from "../../remote/spool/control-stream.js";
import { addTo, type Growing, grow, makeFile, offsetOf, syncFile } from "./growing-file.js";
import { joinOutput } from "./join-output.js";
import type { Results } from "./results.js";
import type { Tee } from "./tee.js";

const STREAMS = ["out", "err"] as const;
type Stream = (typeof STREAMS)[number];

type Streams = Readonly<Record<Stream, Growing>>;

interface LastFetched {
  readonly text: string;
  readonly at: number;
}

/** Enough for the last line. */
const TAIL_BYTES = 2000;

/** What matters of the batch. */
interface OutputFacts {
  /** Hears of all that comes. */
  readonly tee?: Tee | null;
  /** As in Past. */
  readonly kept?: Past["kept"] | undefined;
  /** Whether the job of an attempt prints to stdout alone. */
  readonly mergesOutput?: (key: string) => boolean;
  /** Of the job of an attempt. */
  readonly limitOf?: (key: string) => OutputLimit | null;
}

/** end() each job that was begun. */
export class OutputFiles {
  readonly #results: Results;
  readonly #begun: Set<string>;
  readonly #kept: ReadonlyMap<string, number>;
  readonly #growing = new Map<string, Streams>();
  /** The attempt whose output grows under each name. */
  readonly #owners = new Map<string, string>();

  readonly #tee: Tee | null;
  readonly #mergesOutput: (key: string) => boolean;
  readonly #limitOf: (key: string) => OutputLimit | null;

  /** `begun`: attempts, as `job attempt`, of which an earlier client has written part. */
  constructor(results: Results, begun: ReadonlySet<string>, facts: OutputFacts = {}) {
    const { tee = null, kept = new Map(), mergesOutput = () => false, limitOf = () => null } = facts;
    this.#mergesOutput = mergesOutput;
    this.#results = results;
    this.#tee = tee;
    this.#begun = new Set(begun);
    this.#kept = kept;
    this.#limitOf = limitOf;
  }

  /**
   * Writes nothing if a result or another attempt's output is in place: then an archive brings the whole output.
   * Returns the end of what an earlier client wrote, and when it wrote it.
   */
  async begin(key: string, name: string): Promise<LastFetched | null> {
    if (this.#owners.has(name) || this.#results.has(name)) return null;
    const goesOn = this.#isBegun(key);
    const kept = (stream: Stream) => (goesOn ? (this.#kept.get(`${attemptOf(key)} ${stream}`) ?? 0) : null);
    const out = await this.#make(name, "out", kept("out"));
    const isMerged = this.#mergesOutput(key);
    const err = await this.#make(name, "err", kept("err"), isMerged);
    this.#growing.set(key, { out, err });
    this.#owners.set(name, key);
    for (const [stream, { size: offset, path }] of [
      ["out", out],
      ["err", err],
    ] as const)
      await this.#tee?.begin({ key, stream, offset }, path);
    return goesOn ? lastFetched([out, err]) : null;
  }

  #isBegun(key: string): boolean {
    return this.#begun.has(attemptOf(key));
  }

  /** `kept` is null if no earlier client has written a part of it. */
  async #make(name: string, stream: Stream, kept: number | null, isUnused = false): Promise<Growing> {
    const path = this.#results.streamPath(name, stream);
    const size = existsSync(path) ? (await stat(path)).size : 0;
    // What another, unfinished attempt left under this name moves aside.
    if (size > 0 && kept === null) this.#results.moveStreamAside(name, stream);
    this.#results.makePlace(name);
    if (!isUnused) await makeFile(path);
    return kept === null ? { path, size: 0, kept: 0 } : { path, size, kept: Math.min(kept, size) };
  }

  /** How far each stream of these jobs has come. `haveEnded`: also of those of which no more is fetched before that. */
  positions(keys: Iterable<string>, haveEnded = false): OutputPosition[] {
    const found: OutputPosition[] = [];
    for (const key of keys) {
      const streams = this.#growing.get(key);
      if (streams === undefined) continue;
      for (const stream of STREAMS) {
        if (!haveEnded && this.#isFull(key, streams[stream].kept)) continue;
        found.push({ key, stream, offset: offsetOf(streams[stream]) });
      }
    }
    return found;
  }

  /** So much was fetched as may be kept, and the job has emptied its output since. */
  #isFull(key: string, bytes: number): boolean {
    const limit = this.#limitOf(key);
    return limit !== null && bytes >= limit.bytes;
  }

  /** How much of a stream is here; 0: nothing grows. */
  sizeOf(key: string, stream: Stream): number {
    return this.#growing.get(key)?.[stream].size ?? 0;
  }

  isLimited(key: string): boolean {
    return this.#limitOf(key) !== null;
  }

  /** Streams of which nothing is here yet: an archive can bring them whole. */
  untouched(key: string): Stream[] {
    const streams = this.#growing.get(key);
    return STREAMS.filter((stream) => streams === undefined || streams[stream].size === 0);
  }

  /** Returns false and writes nothing if the piece does not continue the local file. Then call restart() for the stream. */
  async write({ key, stream, offset, bytes }: OutputPiece): Promise<boolean> {
    const growing = this.#growing.get(key)?.[stream];
    if (growing === undefined) return true;
    const before = growing.size;
    const isTaken = await grow(growing, { offset, bytes });
    if (growing.size > before) this.#tee?.grow({ key, stream, offset: growing.size });
    return isTaken;
  }

  /** The job has emptied its output: what is here stays, and the machine's file is read from its beginning. Says how much. */
  async restart(key: string, stream: Stream): Promise<number> {
    const growing = this.#growing.get(key)?.[stream];
    if (growing === undefined) return 0;
    const limit = this.#limitOf(key);
    if (limit !== null && growing.size >= limit.bytes && growing.kept < limit.bytes) {
      const mark = `\n[sshoal: the job empties its output; what it printed from here on is left out: --max-output ${limit.text}]\n`;
      await addTo(growing, Buffer.from(mark));
      this.#tee?.grow({ key, stream, offset: growing.size });
    }
    growing.kept = growing.size;
    return growing.kept;
  }

  /**
   * `name`: the name under which the attempt's output is about to be put into place, if it is. Nothing else has that
   * name then.
   */
  async end(key: string, name: string | null): Promise<void> {
    await this.#close(key);
    if (name === null) return;
    const owner = this.#owners.get(name);
    this.#owners.delete(name);
    const isOurs = owner === key || (owner === undefined && this.#isBegun(key));
    await this.#beginTelling(key, name, isOurs);
    // Putting it into place may fail for lack of disk space, and is then retried.
    this.#begun.add(attemptOf(key));
    if (isOurs) return;
    if (owner !== undefined) {
      await this.#close(owner);
      await this.tellRest(owner, false);
    }
    for (const stream of STREAMS) {
      if (existsSync(this.#results.streamPath(name, stream))) this.#results.moveStreamAside(name, stream);
    }
  }

  /** Adds what an earlier client fetched to output from an archive in `dir`, before it is put into place. */
  join(key: string, name: string, dir: string): void {
    for (const stream of STREAMS) {
      const [here, arrived] = [this.#results.streamPath(name, stream), path.join(dir, stream)];
      if (!existsSync(arrived) || !existsSync(here) || statSync(here).size === 0) continue;
      joinOutput(here, arrived, this.#kept.get(`${attemptOf(key)} ${stream}`) ?? 0);
    }
  }

  /** For output from an archive: the part that an earlier client had is not printed again. */
  async #beginTelling(key: string, name: string, isOurs: boolean): Promise<void> {
    if (this.#tee === null) return;
    for (const stream of STREAMS) {
      const path = this.#results.streamPath(name, stream);
      const offset = isOurs && existsSync(path) ? (await stat(path)).size : 0;
      await this.#tee.begin({ key, stream, offset }, path);
    }
  }

  /** `isInPlace`: the attempt's whole output is at the place where it grew or would have grown. */
  async tellRest(key: string, isInPlace: boolean): Promise<void> {
    for (const stream of STREAMS) await this.#tee?.end(key, stream, isInPlace);
  }

  async #close(key: string): Promise<void> {
    const streams = this.#growing.get(key);
    this.#growing.delete(key);
    if (streams === undefined) return;
    for (const { path, size } of [streams.out, streams.err]) {
      // The existence of an empty file is safe with its directory.
      if (size > 0) await syncFile(path);
    }
  }
}

/** The end of the stream that was written last; null if nothing was written. */
async function lastFetched(streams: readonly Growing[]): Promise<LastFetched | null> {
  const written = streams.filter(({ size }) => size > 0);
  const tails = await Promise.all(written.map(({ path }) => readTail(path)));
  return tails.sort((one, other) => other.at - one.at)[0] ?? null;
}

async function readTail(path: string): Promise<LastFetched> {
  const file = await open(path, "r");
  try {
    const { size, mtimeMs } = await file.stat();
    const { buffer, bytesRead } = await file.read({
      buffer: Buffer.alloc(Math.min(size, TAIL_BYTES)),
      position: Math.max(0, size - TAIL_BYTES),
    });
    return { text: buffer.toString("utf8", 0, bytesRead), at: mtimeMs };
  } finally {
    await file.close();
  }
}

function attemptOf(key: string): string {
  const { job: id, attempt } = parseAttemptKey(key);
  return `${id} ${attempt}`;
}
