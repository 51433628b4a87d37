// Feeds jobs to a running batch: lines from stdin or a growing file, cut into commands as they arrive.

import { setTimeout as sleep } from "node:timers/promises";
import { UserError } from "../../errors.js";
import { bashAt } from "../../input/batch/ask-bash.js";
import { JobSplitter, type OptionLine, type Piece } from "../../input/batch/job-splitter.js";
import type { LineChunk, LineSource } from "../../input/feed/line-source.js";
import { hasOwnFiles } from "../../model/job.js";
import type { BatchRun } from "../../run/batch-run.js";
import type { Arrival, OwnTerms } from "../../run/feed.js";
import { isOfThisDisk } from "../../run/home/disk-error.js";

/** The most jobs that wait at the client or on machines; further lines stay unread. */
const MOST_UNBEGUN = 20_000;
/** Lines per step, so that a large input is added in parts. */
const AT_ONCE = 500;
const LOOK_AGAIN_MS = 100;
/** How long an incomplete command may wait before it is reported. */
const PATIENCE_MS = 2000;

/** The #@ lines for a job that arrives. */
export interface ArrivingLines {
  /** Before the first job, and not right above it. */
  readonly forAll: readonly OptionLine[];
  /** Right above the job. */
  readonly own: readonly OptionLine[];
  /** Of the job. */
  readonly line: number;
}

/** Throws UserError with the mistakes. */
export type ReadOwnTerms = (lines: ArrivingLines) => OwnTerms;

export interface Feeding {
  /** The source's name for people. */
  readonly name: string;
  /** Null: #@ lines are comments. */
  readonly read: ReadOwnTerms | null;
  /** The #@ lines for all jobs that an earlier client has read. */
  readonly forAll?: readonly OptionLine[];
}

/** Resolves when the source has ended or broken off. */
export async function feedRun(run: BatchRun, source: LineSource, feeding: Feeding): Promise<void> {
  const { name } = feeding;
  const feeder = new Feeder(run, feeding);
  const tell = ({ message }: Error) =>
    run.emit({
      kind: "warning",
      message: `${name} can no longer be read: ${message}; no more jobs will arrive`,
    });
  for await (const chunk of asFarAsItGoes(source, tell)) await feeder.take(chunk);
  await feeder.end();
}

/** Errors of the consumer of the chunks are not passed to `onBreak`. */
async function* asFarAsItGoes(source: LineSource, onBreak: (error: Error) => void): LineSource {
  try {
    yield* source;
  } catch (error) {
    onBreak(error as Error);
  }
}

class Feeder {
  readonly #run: BatchRun;
  readonly #name: string;
  readonly #read: ReadOwnTerms | null;
  readonly #forAll: OptionLine[];
  #hasJob: boolean;
  readonly #splitter = new JobSplitter(bashAt("bash"));
  /** Lines that an earlier client has read. */
  readonly #before: number;
  #timer: NodeJS.Timeout | undefined;

  constructor(run: BatchRun, { name, read, forAll = [] }: Feeding) {
    this.#run = run;
    this.#name = name;
    this.#read = read;
    this.#forAll = [...forAll];
    this.#before = run.position?.lines ?? 0;
    this.#hasJob = this.#before > 0;
  }

  async take(chunk: LineChunk): Promise<void> {
    clearTimeout(this.#timer);
    for (let start = 0; start < chunk.lines.length; start += AT_ONCE) {
      await this.#takeSome(chunk, start, Math.min(start + AT_ONCE, chunk.lines.length));
      while (this.#run.countUnbegun() > MOST_UNBEGUN) await sleep(LOOK_AGAIN_MS);
    }
    this.#timer = setTimeout(() => this.#tellHeld(), PATIENCE_MS).unref();
  }

  /** Adds the jobs together with the position in the source: after the last line that completes a command. */
  async #takeSome(chunk: LineChunk, start: number, end: number): Promise<void> {
    const arrivals: Arrival[] = [];
    let whole = start;
    for (let index = start; index < end; index++) {
      arrivals.push(...this.#arrivalsIn(await this.#splitter.add([chunk.lines[index]?.text ?? ""])));
      if (this.#splitter.isBetweenJobs) whole = index;
    }
    if (arrivals.length > 0) this.#run.add(await this.#withFiles(arrivals), await chunk.positionAfter(whole));
  }

  async end(): Promise<void> {
    clearTimeout(this.#timer);
    const arrivals = this.#arrivalsIn(await this.#splitter.end());
    if (arrivals.length > 0) this.#run.add(await this.#withFiles(arrivals), null);
    this.#run.emit({ kind: "jobs-complete" });
  }

  /** Jobs whose own files cannot be read never run. */
  async #withFiles(arrivals: readonly Arrival[]): Promise<Arrival[]> {
    const readable: Arrival[] = [];
    for (const arrival of arrivals) {
      const own = arrival.own?.job ?? {};
      const mistake = hasOwnFiles(own) ? await this.#run.readTree(own).then(() => null, faultOfFile) : null;
      if (mistake === null) readable.push(arrival);
      else this.#refuse(arrival.line, `${this.#name}:${arrival.line}: --copy-forward: ${mistake}`);
    }
    return readable;
  }

  #refuse(line: number, reason: string): void {
    this.#run.emit({ kind: "warning", message: `${reason}; the job in line ${line} is left out` });
    this.#run.emit({ kind: "job-refused", line, reason });
  }

  #arrivalsIn(pieces: readonly Piece[]): Arrival[] {
    return pieces.flatMap((piece) => {
      if (piece.kind !== "job") return this.#setForAll(piece.options);
      this.#hasJob = true;
      const { command, mistake } = piece;
      const own = this.#ownTerms(piece);
      if (own === null) return [];
      if (mistake !== null) this.#warn(mistake.line, `${mistake.says}; the job will fail`);
      // bash would run an incomplete here-document as it is.
      const sure = mistake?.kind === "open" ? `{ ${command}\n}` : command;
      return [{ line: this.#before + piece.line, command: sure, ...(own && { own }) }];
    });
  }

  /** Lines with #@ that are not right above a job. */
  #setForAll(options: readonly OptionLine[]): Arrival[] {
    const [first] = options;
    if (this.#read === null) return [];
    if (first !== undefined && this.#hasJob)
      this.#warn(first.line, "there is no job right below these options, so they are ignored");
    else this.#forAll.push(...this.#placed(options));
    return [];
  }

  /** Undefined: the job has none. Null: they have a mistake, and the job never runs. */
  #ownTerms({ options, line }: Extract<Piece, { kind: "job" }>): OwnTerms | undefined | null {
    if (this.#read === null || options.length + this.#forAll.length === 0) return undefined;
    const where = this.#before + line;
    try {
      return this.#read({ forAll: this.#forAll, own: this.#placed(options), line: where });
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      this.#refuse(where, error.message);
      return null;
    }
  }

  #placed(options: readonly OptionLine[]): OptionLine[] {
    return options.map(({ line, text }) => ({ line: this.#before + line, text }));
  }

  #tellHeld(): void {
    const { held } = this.#splitter;
    if (held !== null) this.#warn(held.line, `not a whole command yet: bash waits for ${held.waitsFor}`);
  }

  #warn(line: number, message: string): void {
    this.#run.emit({ kind: "warning", message: `${this.#name}:${this.#before + line}: ${message}` });
  }
}

/** What to print. Anything else is our bug. */
function faultOfFile(error: unknown): string {
  if (error instanceof UserError || isOfThisDisk(error)) return error.message;
  throw error;
}
