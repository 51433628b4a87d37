// One run of the engine for a queue: it gets jobs one by one, and reports what becomes of each. It ends when asked to
// wind down, or when its machines can do nothing more. A client that was killed leaves it as it is, and the next one
// resumes it from its journal.

import type { RunEvent } from "../../model/event.js";
import type { Job, JobId } from "../../model/job.js";
import { lastAttempt } from "../../model/standing.js";
import type { Ahead } from "../../plan/queue/choose-next.js";
import type { RunState } from "../../plan/run-state.js";
import { type BatchRun, startRun } from "../../run/batch-run.js";
import type { BatchOrder } from "../../run/order.js";
import { type GivenJob, GivenJobs } from "./given-jobs.js";
import { endFact, isAway, type JobFact, lostFact, startFact, stoppedFact } from "./job-fact.js";
import { type Ending, endingsOn, hasFailedOne, phasesOf } from "./machine-sums.js";

export interface GenerationParts {
  readonly number: number;
  /** The jobs that an earlier service gave to it. */
  readonly jobs: readonly GivenJob[];
  readonly order: Omit<
    BatchOrder,
    "jobs" | "jobEnv" | "feed" | "onEvent" | "matching" | "rerun" | "staysOpen"
  >;
  readonly onFact: (fact: JobFact) => void;
  /** Every event, after it was applied. */
  readonly onEvent: (event: RunEvent) => void;
}

/** The service ends, and the machines go on. */
export class Left extends Error {}

export class Generation {
  readonly number: number;
  readonly #run: BatchRun;
  readonly #onFact: GenerationParts["onFact"];
  readonly #open = new GivenJobs();
  readonly #tails = new Map<JobId, string>();
  #isWindingDown = false;
  #isComplete = false;
  #wasAsked = false;

  constructor({ number, jobs, order, onFact, onEvent }: GenerationParts) {
    this.number = number;
    this.#onFact = onFact;
    for (const given of jobs) this.#open.add(given);
    this.#run = startRun({
      ...order,
      jobs: jobs.map(({ job }) => job),
      jobEnv: new Map(jobs.map(({ job, env }) => [job.id, env])),
      feed: null,
      staysOpen: true,
      matching: "id",
      rerun: "none",
      onEvent: (event, isNews) => {
        this.#note(event, isNews);
        onEvent(event);
      },
    });
    for (const { job } of jobs) this.#noteUnderWay(job.id);
  }

  get state(): RunState {
    return this.#run.state;
  }

  /** Its name on machines. */
  get batch(): string {
    return this.#run.batch;
  }

  /** How many jobs it ever had. */
  get given(): number {
    return this.#open.given;
  }

  get isEmpty(): boolean {
    return this.#open.isEmpty;
  }

  /** It gets no more jobs. */
  get isClosing(): boolean {
    return this.#isWindingDown || this.#isComplete;
  }

  /** Why it ended although no user and no lack of jobs asked for it; null: it was asked, or the reason is known already. */
  get whyEnded(): string | null {
    const { machines } = this.state;
    if (this.#wasAsked || !this.#isComplete || hasFailedOne(machines)) return null;
    return `the queue left its machines, and begins anew: ${phasesOf(machines)}`;
  }

  has(id: JobId): boolean {
    return this.#open.has(id);
  }

  hasBegun(id: JobId): boolean {
    return this.#open.hasBegun(id);
  }

  get ahead(): Ahead {
    return this.#open.ahead;
  }

  /** Of its jobs, how many have begun and are not over. */
  get runningCount(): number {
    return this.#open.runningCount;
  }

  /** How jobs have ended whose results are still on their machines. */
  get endings(): Map<JobId, Ending> {
    return endingsOn(this.state.machines, (id) => this.has(id));
  }

  give(jobs: readonly GivenJob[]): void {
    for (const given of jobs) this.#open.add(given);
    this.#run.give(
      jobs.map(({ job }) => job),
      new Map(jobs.map(({ job, env }) => [job.id, env])),
    );
  }

  readTree(job: Job): Promise<void> {
    return this.#run.readTree(job);
  }

  /** Resolves at its end; rejects if the engine has a bug, or with Left. */
  async finish(): Promise<void> {
    await this.#run.finish();
    this.#wasAsked = this.isClosing;
    // A job that comes back now must not be given to it again.
    this.#isComplete = true;
    for (const [id, { hasBegun }] of this.#open.list()) {
      const tracked = this.state.jobs.get(id);
      if (hasBegun || (tracked !== undefined && isAway(tracked))) this.#end(lostFact(id, tracked));
      else this.#return(id);
    }
  }

  /** Jobs that have not begun come back; the others end. Then the generation ends. */
  windDown(): void {
    if (this.#isWindingDown) return;
    this.#isWindingDown = true;
    this.#run.emit({ kind: "interrupted", mode: "drain" });
    this.complete();
  }

  /** It gets no more jobs, and ends with the last of those that it has. */
  complete(): void {
    if (this.#isComplete) return;
    this.#isComplete = true;
    this.#run.emit({ kind: "jobs-complete" });
  }

  stop(ids: readonly JobId[]): void {
    const jobs = ids.filter((id) => this.has(id));
    if (jobs.length > 0) this.#run.emit({ kind: "jobs-stopping", jobs });
  }

  /** A user has stopped it, and its machine does not answer: it counts as stopped, and is ended there once the machine is back. */
  giveUp(id: JobId): void {
    const tracked = this.state.jobs.get(id);
    const machine = tracked && lastAttempt(tracked)?.machine;
    if (!this.has(id) || machine === undefined) return;
    if (this.state.machines.get(machine)?.phase === "ready") return;
    const problem = `${machine} cannot be reached: it may still run there`;
    this.#end({ ...stoppedFact(id), machine, problem });
  }

  setDraining(machine: string, isDraining: boolean): Promise<void> {
    return this.#run.setDraining(machine, isDraining);
  }

  leave(): void {
    this.#run.abandon(new Left("the service ends"));
  }

  /** The journal has its start, and the service that wrote it may not have come further. */
  #noteUnderWay(id: JobId): void {
    const tracked = this.state.jobs.get(id);
    const fact = tracked === undefined ? null : startFact(tracked);
    if (fact === null) return;
    this.#open.begin(id);
    this.#onFact(fact);
  }

  /** After a lost link, machines report starts again, also those of attempts that were over before the job was given once more. */
  #note(event: RunEvent, isNews: boolean): void {
    switch (event.kind) {
      case "job-started": {
        if (!isNews) return;
        const { job, machine, startedAt = event.at, gpus, resources } = event;
        this.#open.begin(job);
        const got = { ...resources, ...(gpus && { gpu: gpus }) };
        if (this.has(job)) this.#onFact({ kind: "started", job, machine, startedAt, got });
        return;
      }
      case "job-ended":
        if (event.stderrTail !== undefined) this.#tails.set(event.job, event.stderrTail);
        return;
      case "job-collected":
      case "job-skipped":
        return this.#noteHome(event.job);
      case "job-stuck":
        return this.#noteHome(event.job, event.reason);
      case "jobs-taken-back":
      case "jobs-stopping":
      case "interrupted":
      case "jobs-gone":
      case "machine-failed":
      case "machine-refused":
        return this.#noteReturned();
      default:
        return;
    }
  }

  /** Its results are here, or can never be: `problem` says why. */
  #noteHome(id: JobId, problem: string | null = null): void {
    const tracked = this.state.jobs.get(id);
    if (!this.has(id) || tracked === undefined) return;
    const fact = endFact(tracked, { stderrTail: this.#tails.get(id) ?? null, problem });
    if (fact !== null) this.#end(fact);
  }

  /** A user stopped them before they began, or the generation winds down. */
  #noteReturned(): void {
    for (const [id, { hasBegun }] of this.#open.list()) {
      const kind = this.state.jobs.get(id)?.fate.kind;
      if (hasBegun || kind === undefined) continue;
      if (kind === "stopped") this.#end(stoppedFact(id));
      else if (this.#isWindingDown && (kind === "dropped" || kind === "waiting")) this.#return(id);
    }
  }

  #return(id: JobId): void {
    this.#close(id);
    this.#onFact({ kind: "returned", job: id });
  }

  #end(fact: JobFact): void {
    this.#close(fact.job);
    this.#onFact(fact);
  }

  #close(id: JobId): void {
    this.#open.close(id);
    this.#tails.delete(id);
  }
}
