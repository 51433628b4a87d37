// The run of a client that follows a batch, whichever one that is by now: a request that a run cannot take in while it lasts
// makes the client leave it and begin the next, as a client does that attaches. The machines go on meanwhile.

import { UserError } from "../errors.js";
import type { FeedPosition } from "../model/batch.js";
import type { News } from "../model/event.js";
import type { JobId } from "../model/job.js";
import type { RunState } from "../plan/run-state.js";
import type { BatchRun } from "../run/batch-run.js";
import type { Arrival } from "../run/feed.js";
import type { BatchOrder } from "../run/order.js";

/** What is other in the next run than in this one. */
export type NextOrder = Partial<
  Pick<
    BatchOrder,
    "script" | "jobs" | "jobEnv" | "settings" | "env" | "tree" | "policy" | "matching" | "machines"
  >
> &
  Pick<BatchOrder, "rerun">;

/** This run ends, and the next one begins. */
export class BegunAnew extends Error {
  constructor() {
    super("begun anew");
    this.name = "BegunAnew";
  }
}

export class FollowedRun implements BatchRun {
  #run: BatchRun;
  #next: NextOrder | null = null;
  /** Why no other run can follow; null: one can. */
  readonly #fixedBecause: string | null;

  constructor(first: BatchRun, fixedBecause: string | null) {
    this.#run = first;
    this.#fixedBecause = fixedBecause;
  }

  /** From now on this one is meant. */
  replace(run: BatchRun): void {
    this.#run = run;
  }

  /** Throws UserError when no other run can follow now. */
  expectChange(): void {
    const reason = this.#reasonAgainst();
    if (reason !== null) throw new UserError(reason.message, { hint: reason.hint });
  }

  /** Throws UserError when no other run can follow now. */
  beginAnew(next: NextOrder): void {
    this.expectChange();
    this.#next = next;
    this.#run.abandon(new BegunAnew());
  }

  get hasNext(): boolean {
    return this.#next !== null;
  }

  /** What the next run is asked for; null: this was the last one. */
  takeNext(): NextOrder | null {
    const next = this.#next;
    this.#next = null;
    return next;
  }

  #reasonAgainst(): { readonly message: string; readonly hint: string } | null {
    const { interrupted, isPaused } = this.state;
    if (this.#fixedBecause !== null)
      return { message: this.#fixedBecause, hint: "wait until it ends, then type this again" };
    if (interrupted !== "no")
      return { message: "the batch starts no more jobs", hint: "wait until it ends, then type this again" };
    if (isPaused)
      return { message: "the batch is paused", hint: "continue it first: kill -USR2 its process" };
    if (this.hasNext) return { message: "another request is being carried out", hint: "type this again" };
    return null;
  }

  get state(): RunState {
    return this.#run.state;
  }

  get position(): FeedPosition | null {
    return this.#run.position;
  }

  get recordBytes(): number {
    return this.#run.recordBytes;
  }

  finish(): Promise<RunState> {
    return this.#run.finish();
  }

  // Passed on as values: they are called without this object.
  readonly emit = (news: News): void => this.#run.emit(news);
  readonly abandon = (reason: Error): void => this.#run.abandon(reason);

  isHandedOver(): boolean {
    return !this.hasNext && this.#run.isHandedOver();
  }

  add(arrivals: readonly Arrival[], position: FeedPosition | null): void {
    this.#run.add(arrivals, position);
  }

  countUnbegun(): number {
    return this.#run.countUnbegun();
  }

  reopen(jobs: readonly JobId[]): void {
    this.#run.reopen(jobs);
  }

  setDraining(machine: string, isDraining: boolean): Promise<void> {
    return this.#run.setDraining(machine, isDraining);
  }
}
