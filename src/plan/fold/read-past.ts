// Reads from the record of a batch what no state has: its settings, slots, output and results in place.

import type { BatchSettings, FeedPosition } from "../../model/batch.js";
import type { Counts } from "../../model/batch-event.js";
import type { RunEvent } from "../../model/event.js";
import type { Job, JobId } from "../../model/job.js";
import type { Capacity, Slot } from "../../model/machine.js";
import type { ScriptEdit } from "../../model/script-edit.js";

export interface Past {
  readonly batch: string;
  /** The last slots of each machine that ever had slots. */
  readonly slots: ReadonlyMap<string, readonly Slot[]>;
  /** What was last measured of each of them. */
  readonly capacities: ReadonlyMap<string, Capacity>;
  /** The known jobs of the last run. */
  readonly lastJobs: readonly Job[];
  readonly pile: Pile;
  /** How far the growing file was read; null if the jobs are not from one. */
  readonly position: FeedPosition | null;
  /** Every job that ever existed, in its last form. */
  readonly jobs: ReadonlyMap<JobId, Job>;
  readonly script: string;
  readonly settings: BatchSettings;
  /** The command with which each job last started. */
  readonly commands: ReadonlyMap<JobId, string>;
  /** Attempts that may have output on the local disk, as `job attempt`. */
  readonly begun: ReadonlySet<string>;
  /** How much of each stream was on the local disk when the job emptied its output, as `job attempt stream`. */
  readonly kept: ReadonlyMap<string, number>;
  /** Attempts whose results may be in place although no event recorded it, with the paths that are missing. */
  readonly arrived: ReadonlyMap<string, readonly string[]>;
  /** Why the results of an attempt could not be collected, as `job attempt`. */
  readonly stuck: ReadonlyMap<string, string>;
  readonly machines: ReadonlyMap<string, RecordedMachine>;
  /** An edit whose result files may not be renamed yet; null if there is none. */
  readonly unmoved: ScriptEdit | null;
}

/** The jobs of one stdin. Several runs may have read it, each from the start. */
interface Pile {
  readonly jobs: readonly Job[];
  /** All of it was read and all its jobs are done: from now on the same commands are new jobs. */
  readonly isDone: boolean;
}

export type RecordedMachine = Extract<RunEvent, { kind: "run-started" }>["machines"][number];

/** Spool formats of the machines whose spools an older version made. */
export function olderFormats(machines: Iterable<RecordedMachine>): Map<string, number> {
  return new Map([...machines].flatMap(({ name, spool }) => (spool ? [[name, spool.format]] : [])));
}

/** Returns null if nothing was ever run. */
export function readPast(events: readonly RunEvent[]): Past | null {
  const starts = events.filter((event) => event.kind === "run-started");
  const last = starts.at(-1);
  if (last === undefined) return null;
  const past = {
    batch: last.batch,
    script: last.script,
    settings: last.settings,
    lastJobs: lastJobs(events),
    pile: lastPile(events),
    position: lastPosition(events),
    jobs: new Map<JobId, Job>(),
    machines: new Map<string, RecordedMachine>(),
    slots: new Map<string, readonly Slot[]>(),
    capacities: new Map<string, Capacity>(),
    commands: new Map<JobId, string>(),
    begun: new Set<string>(),
    kept: new Map<string, number>(),
    arrived: new Map<string, readonly string[]>(),
    stuck: new Map<string, string>(),
    unmoved: lastUnmoved(events),
  };
  for (const event of events) {
    if (event.kind === "run-started") {
      for (const job of event.jobs) past.jobs.set(job.id, job);
      for (const { job: id, to } of event.edit?.moves ?? []) rename(past.jobs, id, to);
      for (const machine of event.machines) past.machines.set(machine.name, machine);
    }
    if (event.kind === "jobs-added") for (const job of event.jobs) past.jobs.set(job.id, job);
    if (event.kind === "machine-ready") {
      past.slots.set(event.machine, event.slots);
      past.capacities.set(event.machine, event.capacity);
    }
    if (event.kind === "job-started") past.begun.add(`${event.job} ${event.attempt}`);
    if (event.kind === "job-stuck") past.stuck.set(`${event.job} ${event.attempt}`, event.reason);
    if (event.kind === "output-restarted")
      past.kept.set(`${event.job} ${event.attempt} ${event.stream}`, event.kept);
    if (event.kind === "jobs-assigned") {
      for (const id of event.jobs) past.commands.set(id, past.jobs.get(id)?.command ?? "");
    }
    if (event.kind === "jobs-arrived") {
      for (const [index, id] of event.jobs.entries())
        past.arrived.set(`${id} ${event.attempts[index]}`, event.missing?.[id] ?? []);
    }
  }
  return past;
}

function rename(jobs: Map<JobId, Job>, id: JobId, name: string): void {
  const job = jobs.get(id);
  if (job !== undefined) jobs.set(id, { ...job, name });
}

function lastUnmoved(events: readonly RunEvent[]): ScriptEdit | null {
  const last = events.findLast(
    (event) => event.kind === "results-moved" || (event.kind === "run-started" && movesAny(event.edit)),
  );
  return last?.kind === "run-started" ? (last.edit ?? null) : null;
}

function movesAny(edit: ScriptEdit | undefined): boolean {
  return edit !== undefined && edit.moves.length + edit.files.length > 0;
}

function lastPosition(events: readonly RunEvent[]): FeedPosition | null {
  const positions = events.map((event) => (event.kind === "jobs-added" ? event.position : null));
  return positions.findLast((position) => position !== null) ?? null;
}

function lastJobs(events: readonly RunEvent[]): Job[] {
  const last = events.findLastIndex((event) => event.kind === "run-started");
  const jobs = new Map<JobId, Job>();
  for (const event of events.slice(Math.max(0, last))) {
    if (event.kind === "run-started" || event.kind === "jobs-added")
      for (const job of event.jobs) jobs.set(job.id, job);
  }
  return [...jobs.values()];
}

function lastPile(events: readonly RunEvent[]): Pile {
  const jobs = new Map<JobId, Job>();
  let isRead = true;
  let isDone = false;
  for (const event of events) {
    if (event.kind === "run-started" && isDone) jobs.clear();
    if (event.kind === "run-started") isDone = false;
    if (event.kind === "run-started" || event.kind === "jobs-added")
      for (const job of event.jobs) jobs.set(job.id, job);
    if (event.kind === "jobs-added") isRead = false;
    if (event.kind === "jobs-complete") isRead = true;
    if (event.kind === "run-ended") isDone = isRead && isNothingLeft(event.counts);
  }
  return { jobs: [...jobs.values()], isDone };
}

/** Jobs that no machine can ever run are left for good: the same command on stdin is a new job. */
function isNothingLeft({ unfinished, stopped, leftOut = 0 }: Counts): boolean {
  return unfinished - leftOut + stopped === 0;
}
