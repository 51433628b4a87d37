// Feeds jobs to a running batch: lines from stdin or a growing file, cut into commands as they arrive.

import { setTimeout as sleep } from "node:timers/promises";
import { bashAt } from "../input/batch/ask-bash.js";
import { JobSplitter, type Piece } from "../input/batch/job-splitter.js";
import type { LineChunk, LineSource } from "../input/feed/line-source.js";
import type { BatchRun } from "../run/batch-run.js";
import type { Arrival } from "../run/feed.js";

/** The most jobs that wait at the client or on machines; further lines stay unread. */
const MOST_UNBEGUN = 20_000;
/** Lines per step, so that a large input is added in parts. */
const AT_ONCE = 500;
const LOOK_AGAIN_MS = 100;
/** How long an incomplete command may wait before it is reported. */
const PATIENCE_MS = 2000;

/** `name`: the source's name for people. Resolves when the source has ended or broken off. */
export async function feedRun(run: BatchRun, source: LineSource, name: string): Promise<void> {
  const feeder = new Feeder(run, name);
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
  readonly #splitter = new JobSplitter(bashAt("bash"));
  /** Lines that an earlier client has read. */
  readonly #before: number;
  #timer: NodeJS.Timeout | undefined;

  constructor(run: BatchRun, name: string) {
    this.#run = run;
    this.#name = name;
    this.#before = run.position?.lines ?? 0;
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
    if (arrivals.length > 0) this.#run.add(arrivals, await chunk.positionAfter(whole));
  }

  async end(): Promise<void> {
    clearTimeout(this.#timer);
    const arrivals = this.#arrivalsIn(await this.#splitter.end());
    if (arrivals.length > 0) this.#run.add(arrivals, null);
    this.#run.emit({ kind: "jobs-complete" });
  }

  #arrivalsIn(pieces: readonly Piece[]): Arrival[] {
    return pieces.flatMap((piece) => {
      const [option] = piece.options;
      if (option !== undefined)
        this.#warn(option.line, "#@ lines set options in a script; here they are ignored");
      if (piece.kind !== "job") return [];
      const { command, mistake } = piece;
      if (mistake !== null) this.#warn(mistake.line, `${mistake.says}; the job will fail`);
      // bash would run an incomplete here-document as it is.
      const sure = mistake?.kind === "open" ? `{ ${command}\n}` : command;
      return [{ line: this.#before + piece.line, command: sure }];
    });
  }

  #tellHeld(): void {
    const { held } = this.#splitter;
    if (held !== null) this.#warn(held.line, `not a whole command yet: bash waits for ${held.waitsFor}`);
  }

  #warn(line: number, message: string): void {
    this.#run.emit({ kind: "warning", message: `${this.#name}:${this.#before + line}: ${message}` });
  }
}
