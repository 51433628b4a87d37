// Asks the client that follows a batch, if it runs on this computer and has the same protocol version.

import { UserError } from "../../errors.js";
import type { JobId } from "../../model/job.js";
import { type Holder, isHere } from "../../run/home/lock.js";
import type { Results } from "../../run/home/results.js";
import { dial } from "../../socket/dialling.js";
import type { JsonChannel } from "../../socket/json-channel.js";
import { readBatchHolder } from "../find/batches-here.js";
import type { StoppedJob } from "../stop/stop-jobs.js";
import { type Answer, PROTOCOL, parseAnswer, type Request, type Snapshot } from "./protocol.js";

/** A suspended process accepts connections, but sends nothing. */
export const HELLO_MS = 10_000;

/** Owns the channel; call close(). */
export class Follower {
  readonly pid: number;
  readonly #channel: JsonChannel;
  readonly #answers: Answer[] = [];
  #isGone = false;
  #wake = () => {};

  constructor({ pid }: Holder, channel: JsonChannel) {
    this.pid = pid;
    this.#channel = channel;
    channel.listen((message) => {
      const answer = parseAnswer(message);
      if (answer === null) return;
      this.#answers.push(answer);
      this.#wake();
    });
    void channel.closed.then(() => {
      this.#isGone = true;
      this.#wake();
    });
  }

  /** Null: nothing more arrives. */
  async next(): Promise<Answer | null> {
    while (this.#answers.length === 0 && !this.#isGone)
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    return this.#answers.shift() ?? null;
  }

  /** Throws UserError if it refuses, or if it ends before it answers. */
  async ask(request: Exclude<Request, { kind: "watch" | "stop" }>): Promise<void> {
    this.#channel.send(request);
    const answer = await this.next();
    if (answer?.kind === "done") return;
    if (answer?.kind === "refused")
      throw new UserError(answer.message, { ...(answer.hint !== null && { hint: answer.hint }) });
    throw this.goneError();
  }

  /**
   * `jobs` null: all of the batch. Resolves when they have ended, or cannot be reached. Throws UserError if the
   * follower ends before.
   */
  async stop(jobs: readonly JobId[] | null): Promise<readonly StoppedJob[]> {
    this.#channel.send({ kind: "stop", jobs } satisfies Request);
    const answer = await this.next();
    if (answer?.kind === "stopped") return answer.jobs;
    throw this.goneError();
  }

  /** Its events arrive from now on. */
  async watch(): Promise<Snapshot> {
    this.#channel.send({ kind: "watch" } satisfies Request);
    const answer = await this.next();
    if (answer?.kind === "watching") return answer;
    throw this.goneError();
  }

  goneError(): UserError {
    return new UserError(`process ${this.pid}, which followed the batch, is gone`, {
      hint: "see its state with sshoal status, then type the same command again",
    });
  }

  close(): void {
    void this.#channel.end();
  }
}

/**
 * Null: no client follows it, or one that cannot be asked: on another computer, or of another version. Throws UserError when it
 * has not answered when the signal comes.
 */
export async function reachFollower(
  results: Results,
  stem: string,
  signal = AbortSignal.timeout(HELLO_MS),
): Promise<Follower | null> {
  const holder = readBatchHolder(results, stem);
  if (typeof holder?.socket !== "string" || !isHere(holder)) return null;
  const channel = await dial(holder.socket);
  if (channel === null) return null;
  const follower = new Follower(holder, channel);
  const hello = await Promise.race([follower.next(), silence(signal)]);
  if (hello === "silent") {
    follower.close();
    throw new UserError(`process ${holder.pid} follows this batch, and does not answer`, {
      hint: `end it: kill ${holder.pid} (jobs continue)`,
    });
  }
  if (hello?.kind === "hello" && hello.protocol === PROTOCOL) return follower;
  follower.close();
  return null;
}

function silence(signal: AbortSignal): Promise<"silent"> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve("silent");
    signal.addEventListener("abort", () => resolve("silent"), { once: true });
  });
}
