// One run of the engine for a queue: it gets jobs one by one, and reports what becomes of each. It ends when asked to
// wind down, or when its machines can do nothing more. A client that was killed leaves it as it is, and the next one
// resumes it from its journal.

import { type Attempt, courseOf, isUnbegun } from "../model/attempt.js";
import type { TrackedJob } from "../model/batch-state.js";
import type { RunEvent } from "../model/event.js";
import type { Footprint } from "../model/footprint.js";
import type { Job, JobId, Outcome } from "../model/job.js";
import type { QueueJob } from "../model/queue.js";
import { queuePriority } from "../model/queue-priority.js";
import { endingOf, lastAttempt } from "../model/standing.js";
import { type Ahead, isBefore } from "../plan/queue/choose-next.js";
import type { RunState } from "../plan/run-state.js";
import { type BatchRun, startRun } from "../run/batch-run.js";
import type { BatchOrder } from "../run/order.js";

export type JobFact = { readonly job: JobId } & (
  | {
      readonly kind: "started";
      readonly machine: string;
      readonly startedAt: number;
      readonly got: Readonly<Record<string, readonly string[]>>;
    }
  | {
      readonly kind: "ended";
      readonly machine: string | null;
      readonly outcome: Outcome;
      readonly durationMs: number | null;
      readonly footprint: Footprint | null;
      readonly stderrTail: string | null;
      /** Why its results are not here; null: they are. */
      readonly problem: string | null;
    }
  /** It has not begun, and no machine has it any more. */
  | { readonly kind: "returned" }
);

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

export type Ending = Pick<QueueJob, "state" | "outcome" | "durationMs" | "endedAt">;

export interface GivenJob {
  readonly job: Job;
  /** Jobs of one kind have the same need. */
  readonly kind: string;
  /** Its variables. */
  readonly env: Readonly<Record<string, string>>;
}

/** The service ends, and the machines go on. */
export class Left extends Error {}

export class Generation {
  readonly number: number;
  readonly #run: BatchRun;
  readonly #onFact: GenerationParts["onFact"];
  /** Jobs that are not over, with whether they have begun. */
  readonly #open = new Map<JobId, { readonly given: GivenJob; hasBegun: boolean }>();
  readonly #byKind = new Map<string, number>();
  readonly #tails = new Map<JobId, string>();
  #unbegun = 0;
  #given = 0;
  #isWindingDown = false;
  #isComplete = false;
  #wasAsked = false;

  constructor({ number, jobs, order, onFact, onEvent }: GenerationParts) {
    this.number = number;
    this.#onFact = onFact;
    for (const given of jobs) this.#add(given);
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
    return this.#given;
  }

  get isEmpty(): boolean {
    return this.#open.size === 0;
  }

  /** It gets no more jobs. */
  get isClosing(): boolean {
    return this.#isWindingDown || this.#isComplete;
  }

  /** Why it ended although no user and no lack of jobs asked for it; null: it was asked, or has not ended. */
  get whyEnded(): string | null {
    if (this.#wasAsked || !this.#isComplete) return null;
    const machines = [...this.state.machines.values()].map(({ name, phase }) => `${name} is ${phase}`);
    return `the queue left its machines, and begins anew: ${machines.join(", ")}`;
  }

  has(id: JobId): boolean {
    return this.#open.has(id);
  }

  hasBegun(id: JobId): boolean {
    return this.#open.get(id)?.hasBegun ?? false;
  }

  get ahead(): Ahead {
    return { total: this.#unbegun, byKind: this.#byKind, last: this.#lastUnbegun() };
  }

  #lastUnbegun(): Ahead["last"] {
    let last: Ahead["last"] = null;
    for (const { given, hasBegun } of this.#open.values()) {
      if (hasBegun) continue;
      const one = { id: given.job.id, priority: queuePriority(given.job) };
      if (last === null || isBefore(last, one)) last = one;
    }
    return last;
  }

  /** Of its jobs, how many have begun and are not over. */
  get runningCount(): number {
    return this.#open.size - this.#unbegun;
  }

  /** How jobs have ended whose results are still on their machines. */
  get endings(): Map<JobId, Ending> {
    const endings = new Map<JobId, Ending>();
    for (const { current } of this.state.machines.values())
      for (const { job, stage } of current.ended)
        if ("outcome" in stage && this.has(job)) {
          const { outcome, durationMs, endedAt } = stage;
          endings.set(job, { state: endingOf(outcome), outcome, durationMs, endedAt });
        }
    return endings;
  }

  /** How many jobs its machines can run at a time, as far as known; 0: none has answered. */
  get slots(): number {
    let count = 0;
    for (const { phase, isOpen, slots, current } of this.state.machines.values())
      if (phase === "ready" && isOpen) count += Math.max(slots, current.running.size);
    return count;
  }

  /** True if a job may begin that has not, on a machine that can be reached. */
  get mayBegin(): boolean {
    return [...this.state.machines.values()].some(({ phase, current: { assigned, sent, queued } }) => {
      return phase !== "lost" && phase !== "failed" && assigned.size + sent.size + queued.size > 0;
    });
  }

  give(jobs: readonly GivenJob[]): void {
    for (const given of jobs) this.#add(given);
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
    for (const [id, { hasBegun }] of [...this.#open]) {
      const tracked = this.state.jobs.get(id);
      if (tracked !== undefined && isAway(tracked)) this.#end(id, lostFact(tracked));
      else if (hasBegun) this.#end(id, lostFact(tracked));
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
    this.#end(id, { ...stoppedFact(id), machine, problem });
  }

  setDraining(machine: string, isDraining: boolean): Promise<void> {
    return this.#run.setDraining(machine, isDraining);
  }

  leave(): void {
    this.#run.abandon(new Left("the service ends"));
  }

  #add(given: GivenJob): void {
    if (this.#open.has(given.job.id)) return;
    this.#given++;
    this.#open.set(given.job.id, { given, hasBegun: false });
    this.#count(given, 1);
  }

  #count({ kind }: GivenJob, change: 1 | -1): void {
    const count = (this.#byKind.get(kind) ?? 0) + change;
    if (count === 0) this.#byKind.delete(kind);
    else this.#byKind.set(kind, count);
    this.#unbegun += change;
  }

  /** The journal has its start, and the service that wrote it may not have come further. */
  #noteUnderWay(id: JobId): void {
    const attempt = this.state.jobs.get(id)?.fate;
    if (attempt?.kind !== "tried" || isUnbegun(attempt) || attempt.stage.kind === "collected") return;
    const { startedAt, gpus } = courseOf(attempt.stage);
    if (startedAt === null) return;
    this.#begin(id);
    const got = gpus === undefined ? {} : { gpu: gpus };
    this.#onFact({ kind: "started", job: id, machine: attempt.machine, startedAt, got });
  }

  /** After a lost link, machines report starts again, also those of attempts that were over before the job was given once more. */
  #note(event: RunEvent, isNews: boolean): void {
    switch (event.kind) {
      case "job-started": {
        if (!isNews) return;
        const { job, machine, startedAt = event.at, gpus, resources } = event;
        this.#begin(job);
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

  #begin(id: JobId): void {
    const open = this.#open.get(id);
    if (open === undefined || open.hasBegun) return;
    open.hasBegun = true;
    this.#count(open.given, -1);
  }

  /** Its results are here, or can never be: `problem` says why. */
  #noteHome(id: JobId, problem: string | null = null): void {
    const tracked = this.state.jobs.get(id);
    if (!this.has(id) || tracked === undefined) return;
    const attempt = lastAttempt(tracked);
    const outcome = outcomeOf(tracked, attempt);
    if (outcome === null || isRetried(tracked)) return;
    const stage = attempt?.stage;
    this.#end(id, {
      kind: "ended",
      job: id,
      machine: attempt?.machine ?? null,
      outcome,
      durationMs: stage !== undefined && "durationMs" in stage ? stage.durationMs : null,
      footprint: (stage !== undefined && "footprint" in stage ? stage.footprint : undefined) ?? null,
      stderrTail: this.#tails.get(id) ?? null,
      problem,
    });
  }

  /** A user stopped them before they began, or the generation winds down. */
  #noteReturned(): void {
    for (const [id, { hasBegun }] of [...this.#open]) {
      const kind = this.state.jobs.get(id)?.fate.kind;
      if (hasBegun || kind === undefined) continue;
      if (kind === "stopped") this.#end(id, stoppedFact(id));
      else if (this.#isWindingDown && (kind === "dropped" || kind === "waiting")) this.#return(id);
    }
  }

  #return(id: JobId): void {
    this.#close(id);
    this.#onFact({ kind: "returned", job: id });
  }

  #end(id: JobId, fact: JobFact): void {
    this.#close(id);
    this.#onFact({ ...fact, job: id });
  }

  #close(id: JobId): void {
    this.#begin(id);
    this.#open.delete(id);
    this.#tails.delete(id);
  }
}

function outcomeOf({ fate }: TrackedJob, attempt: Attempt | null): Outcome | null {
  if (fate.kind === "skipped") return fate.outcome;
  const stage = attempt?.stage;
  return stage !== undefined && "outcome" in stage ? stage.outcome : null;
}

/** The engine itself runs it once more, as on another machine if this one crashes everything. */
function isRetried({ fate }: TrackedJob): boolean {
  return fate.kind === "tried" && fate.stage.kind === "collected" && fate.stage.isToRetry === true;
}

/** On a machine that was left out, where it may still run. */
function isAway({ fate }: TrackedJob): boolean {
  return fate.kind === "tried" && fate.stage.kind === "unknown";
}

const ENDED_WITHOUT_RESULTS = { durationMs: null, footprint: null, stderrTail: null } as const;

function lostFact(tracked: TrackedJob | undefined): JobFact {
  const attempt = tracked === undefined ? null : lastAttempt(tracked);
  const reason = attempt === null ? "its machine was left out" : `${attempt.machine} was left out`;
  const job = tracked?.job.id ?? 0;
  const outcome: Outcome = { kind: "lost", reason };
  const machine = attempt?.machine ?? null;
  return { kind: "ended", job, machine, outcome, problem: reason, ...ENDED_WITHOUT_RESULTS };
}

function stoppedFact(job: JobId): Extract<JobFact, { kind: "ended" }> {
  const outcome: Outcome = { kind: "stopped" };
  return { kind: "ended", job, machine: null, outcome, problem: null, ...ENDED_WITHOUT_RESULTS };
}
