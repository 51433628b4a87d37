// The events of a followed batch in the words of the API. A job is reported when its state is another one than was reported
// last, whatever event of the run has changed it.

import type { TrackedJob } from "../../model/batch-state.js";
import type { RunEvent } from "../../model/event.js";
import type { JobId } from "../../model/job.js";
import type { QueueJob } from "../../model/queue.js";
import type { QueueEvent } from "../../model/queue-event.js";
import { JOB_WORDS, runsOf, wordOf } from "../../model/standing.js";
import { startsNothing } from "../../plan/halt.js";
import type { RunState } from "../../plan/run-state.js";

/** So many are kept for readers that connect again. */
const KEPT = 4096;
/** A client that follows the batch later begins at a larger number than this one reaches. */
const PER_MS = 100;

/** Events after which any job can be in another state. */
const TOUCH_ALL: ReadonlySet<RunEvent["kind"]> = new Set([
  "run-started",
  "run-resumed",
  "run-ended",
  "interrupted",
  "halted",
  "continued",
  "machine-failed",
]);

export interface BatchEventsOf {
  readonly batch: string;
  readonly state: () => RunState;
  readonly jobOf: (tracked: TrackedJob) => QueueJob;
}

export class BatchEvents {
  readonly #of: BatchEventsOf;
  readonly #kept: number;
  readonly #listeners = new Set<(event: QueueEvent) => void>();
  /** The last ones, oldest first. */
  #events: QueueEvent[] = [];
  #last: number;
  readonly #told = new Map<JobId, number>();
  readonly #reasons = new Map<JobId, string>();
  #isPaused: boolean;

  constructor(of: BatchEventsOf, now: number, kept = KEPT) {
    this.#of = of;
    this.#kept = kept;
    this.#last = now * PER_MS;
    const state = of.state();
    this.#isPaused = startsNothing(state);
    for (const [id, tracked] of state.jobs) if (!tracked.traits.isGone) this.#told.set(id, digestOf(tracked));
  }

  /** The number of the last event. */
  get last(): number {
    return this.#last;
  }

  /** Null: some of them are no longer kept, or it never was. */
  after(seq: number, limit = this.#kept): readonly QueueEvent[] | null {
    const first = this.#last - this.#events.length;
    if (seq > this.#last || seq < first) return null;
    return this.#events.slice(seq - first, seq - first + limit);
  }

  onEvent(listener: (event: QueueEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  note(event: RunEvent): void {
    const state = this.#of.state();
    for (const id of touchedBy(event, state, this.#told)) this.#noteJob(id, state, event);
    if (startsNothing(state) !== this.#isPaused) {
      this.#isPaused = !this.#isPaused;
      this.#tell(this.#isPaused ? "queue-paused" : "queue-resumed", event.at, {});
    }
    this.#noteRest(event, state);
  }

  #noteJob(id: JobId, state: RunState, event: RunEvent): void {
    const tracked = state.jobs.get(id);
    const before = this.#told.get(id);
    if (tracked === undefined || tracked.traits.isGone) {
      this.#told.delete(id);
      if (before !== undefined) this.#tell("job-removed", event.at, { job: id });
      return;
    }
    const now = digestOf(tracked);
    if (now === before) return;
    this.#told.set(id, now);
    this.#reasons.delete(id);
    const job = this.#of.jobOf(tracked);
    const isOther = before === undefined || wordIn(before) !== wordIn(now);
    const tail = event.kind === "job-ended" && event.stderrTail !== undefined ? event.stderrTail : null;
    const data = { ...changing(job), ...(tail !== null && { stderrTail: tail }) };
    if (before === undefined) {
      const { name, command } = job;
      this.#tell("job-added", event.at, { job: id, data: { name, command, ...data } });
    } else this.#tell(isOther ? kindFor(job) : "job-changed", event.at, { job: id, data });
  }

  #noteRest(event: RunEvent, { tally }: RunState): void {
    const { at } = event;
    switch (event.kind) {
      case "machine-ready": {
        const { machine, slots } = event;
        return this.#tell(event.kind, at, { data: { machine, slots: slots.length } });
      }
      case "machine-back":
      case "machine-draining":
      case "machine-opened":
        return this.#tell(event.kind, at, { data: { machine: event.machine } });
      case "machine-lost":
      case "machine-failed":
        return this.#tell(event.kind, at, { data: { machine: event.machine, reason: event.reason } });
      case "slot-waiting":
        return this.#noteReason(event);
      case "jobs-left-out":
        for (const id of event.jobs) this.#noteLeftOut(id, at);
        return;
      case "machine-refused":
        return this.#warn(`${event.machine} refuses jobs: ${event.reason}`, at);
      case "machine-set-aside":
        return this.#warn(`${event.machine} gets no more jobs, because the first ones crashed there`, at);
      case "warning":
        return this.#warn(event.message, at);
      case "run-ended":
        return tally.waiting + tally.running === 0 ? this.#tell("queue-empty", at, {}) : undefined;
      default:
        return;
    }
  }

  #warn(message: string, at: number): void {
    this.#tell("warning", at, { data: { message } });
  }

  #noteLeftOut(id: JobId, at: number): void {
    const tracked = this.#of.state().jobs.get(id);
    if (tracked === undefined) return;
    this.#tell("job-changed", at, { job: id, data: { reason: this.#of.jobOf(tracked).reason } });
  }

  #noteReason({ job, machine, reason, at }: Extract<RunEvent, { kind: "slot-waiting" }>): void {
    const text = `${machine} ${reason}`;
    if (job === undefined || this.#reasons.get(job) === text) return;
    this.#reasons.set(job, text);
    this.#tell("job-changed", at, { job, data: { reason: text } });
  }

  #tell(kind: QueueEvent["kind"], at: number, about: Pick<QueueEvent, "job" | "data">): void {
    const event: QueueEvent = { seq: ++this.#last, at, kind, queue: this.#of.batch, ...about };
    this.#events.push(event);
    // Seldom, because it copies all of them.
    if (this.#events.length > 2 * this.#kept) this.#events = this.#events.slice(-this.#kept);
    for (const listener of [...this.#listeners]) listener(event);
  }
}

/** What of a job can change, as one number: its state, its attempt, and whether its results are here. */
function digestOf(tracked: TrackedJob): number {
  const { fate } = tracked;
  const isHere = fate.kind === "skipped" || (fate.kind === "tried" && fate.stage.kind === "collected");
  return (runsOf(tracked) * 2 + Number(isHere)) * JOB_WORDS.length + JOB_WORDS.indexOf(wordOf(tracked));
}

function wordIn(digest: number): number {
  return digest % JOB_WORDS.length;
}

function kindFor({ state, machine }: QueueJob): QueueEvent["kind"] {
  if (state === "waiting") return "job-changed";
  if (state === "running") return "job-started";
  return state === "skipped" && machine === null ? "job-skipped" : "job-ended";
}

function changing(job: QueueJob): Partial<QueueJob> {
  const { state, isHere, attempt, machine, got, reason } = job;
  const { startedAt, endedAt, durationMs, outcome, footprint } = job;
  return {
    state,
    isHere,
    attempt,
    machine,
    got,
    reason,
    startedAt,
    endedAt,
    durationMs,
    outcome,
    footprint,
  };
}

function touchedBy(event: RunEvent, { jobs }: RunState, told: ReadonlyMap<JobId, number>): Iterable<JobId> {
  // Very many, and they change nothing.
  if (event.kind === "job-output" || event.kind === "job-said") return [];
  if (TOUCH_ALL.has(event.kind)) return new Set([...told.keys(), ...jobs.keys()]);
  if ("jobs" in event) return event.jobs.map((each) => (typeof each === "number" ? each : each.id));
  return "job" in event && event.job !== undefined ? [event.job] : [];
}
