// The current run of a client that follows a batch. For a request that a run cannot handle, the client leaves the run
// and begins the next one, like a client that attaches. The machines continue in the meantime.

import { UserError } from "../../errors.js";
import type { FeedPosition } from "../../model/batch.js";
import type { News } from "../../model/event.js";
import type { JobId, OwnFiles } from "../../model/job.js";
import type { RunState } from "../../plan/run-state.js";
import type { BatchRun } from "../../run/batch-run.js";
import type { Arrival } from "../../run/feed.js";
import type { BatchOrder } from "../../run/order.js";
import type { Rerun } from "../../run/rerun.js";

/** What differs in the next run. */
export type NextOrder = Partial<
  Pick<
    BatchOrder,
    "script" | "jobs" | "jobEnv" | "settings" | "env" | "trees" | "policy" | "matching" | "machines"
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

export interface Changes {
  /** Why no other run can follow; null: one can. */
  readonly fixedBecause: string | null;
  /** The order to run finished jobs again. Rejects with UserError if there is none. */
  readonly orderAgain: (rerun: Rerun) => Promise<NextOrder>;
}

export class FollowedRun implements BatchRun {
  #run: BatchRun;
  #next: NextOrder | null = null;
  readonly #changes: Changes;
  /** Requests between two runs; they apply to the next one. */
  #said: (() => void)[] | null = null;
  #noteBegun = () => {};
  #begun = Promise.resolve();

  constructor(first: BatchRun, changes: Changes) {
    this.#run = first;
    this.#changes = changes;
  }

  /** From now on this run is the current one. */
  replace(run: BatchRun): void {
    this.#run = run;
  }

  /** Resolves while a run is in progress. */
  get begun(): Promise<void> {
    return this.#begun;
  }

  /** Throws UserError if no other run can follow now. */
  expectChange(): void {
    const reason = this.#reasonAgainst();
    if (reason !== null) throw new UserError(reason.message, { hint: reason.hint });
  }

  /** Throws UserError if no other run can follow now. */
  beginAnew(next: NextOrder): void {
    this.expectChange();
    this.#next = next;
    this.#run.abandon(new BegunAnew());
    this.#said = [];
    this.#begun = new Promise((resolve) => {
      this.#noteBegun = resolve;
    });
  }

  /** Throws UserError if no other run can follow now. */
  async runAgain(rerun: Rerun): Promise<void> {
    this.expectChange();
    this.beginAnew(await this.#changes.orderAgain(rerun));
  }

  get hasNext(): boolean {
    return this.#next !== null;
  }

  /** The order for the next run; null: this was the last one. */
  takeNext(): NextOrder | null {
    const next = this.#next;
    this.#next = null;
    return next;
  }

  #reasonAgainst(): { readonly message: string; readonly hint: string } | null {
    const { interrupted, isPaused } = this.state;
    if (this.#changes.fixedBecause !== null)
      return { message: this.#changes.fixedBecause, hint: "wait until it ends, then type this again" };
    if (interrupted !== "no")
      return { message: "the batch starts no more jobs", hint: "wait until it ends, then type this again" };
    if (isPaused)
      return {
        message: "the batch is paused",
        hint: "continue it first: c in its live view, or kill -USR2 its process",
      };
    if (this.#said !== null)
      return { message: "another request is being carried out", hint: "type this again" };
    return null;
  }

  get batch(): string {
    return this.#run.batch;
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
    const finishing = this.#run.finish();
    const said = this.#said ?? [];
    this.#said = null;
    for (const each of said) each();
    this.#noteBegun();
    return finishing;
  }

  // Passed on as values: they are called without this object.
  readonly emit = (news: News): void => this.#say(() => this.#run.emit(news));
  readonly abandon = (reason: Error): void => this.#say(() => this.#run.abandon(reason));

  #say(what: () => void): void {
    if (this.#said === null) what();
    else this.#said.push(what);
  }

  add(arrivals: readonly Arrival[], position: FeedPosition | null): void {
    this.#run.add(arrivals, position);
  }

  give(...given: Parameters<BatchRun["give"]>): void {
    this.#run.give(...given);
  }

  readTree(own: OwnFiles): Promise<void> {
    return this.#run.readTree(own);
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
