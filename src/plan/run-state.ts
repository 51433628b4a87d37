// What a run knows beside its jobs and machines: what the user wants, what waits, and where to look next.

import { attemptKey, rankIn } from "../model/attempt-key.js";
import { type BatchState, endingOf, type MachineState } from "../model/batch-state.js";
import type { Counts } from "../model/event.js";
import type { HaltRule } from "../model/halt-rule.js";
import { type JobId, kindOf } from "../model/job.js";
import type { Stock } from "./stock.js";

/** What the user wants to happen when things go wrong. */
export interface Policy {
  /** How often a job is tried again whose machine went down with it. */
  readonly retries: number;
  /** Whether jobs that failed are tried again, too. */
  readonly retriesFailures: boolean;
  /** How long a machine may be away before others get what it had not begun; null: for ever. */
  readonly reassignAfterMs: number | null;
  /** When the run ends of itself; left out: never. */
  readonly halt?: HaltRule | null;
}

/** What counts for `--halt`. */
export interface Halting {
  /** Jobs that ended in this run, for good. */
  readonly ended: Set<JobId>;
  failed: number;
  /** Had their results before this run: no share of them is asked for. */
  skipped: number;
  /** The rule that ended the run, unless the user did so since. */
  reached: HaltRule | null;
}

export interface RunState extends BatchState {
  readonly policy: Policy;
  readonly stock: Stock;
  /** Of the jobs that need something else than the others do. */
  readonly kinds: Map<JobId, string>;
  /** Directories of jobs stay on their machines until they succeed, unless a job says otherwise. */
  keepsDirs: boolean;
  /** Jobs come from stdin or from a file that grows: nothing of them stays after the run. */
  readonly isFed: boolean;
  firstReadyAt: number | null;
  /** More jobs may still come. */
  isMoreToCome: boolean;
  /** Jobs that a user stopped, until they are asked for again. */
  readonly stopping: Set<JobId>;
  isPaused: boolean;
  halting: Halting;
}

export function machineOf(state: BatchState, name: string): MachineState {
  const machine = state.machines.get(name);
  if (machine === undefined) throw new Error(`no machine ${name} in this run`);
  return machine;
}

/** Every change of a machine begins here, so that the next decision looks at it. */
export function toChange(state: RunState, name: string): MachineState {
  const machine = machineOf(state, name);
  state.stock.changed.add(machine);
  return machine;
}

/** Names the attempt of a job that a machine has; the job's last one where it has none. */
export function keyOn(state: BatchState, name: string, id: JobId): string {
  const { attempts, spoolFormat } = machineOf(state, name);
  const attempt = attempts.get(id);
  if (attempt !== undefined) return attemptKey(attempt);
  const tracked = state.jobs.get(id);
  if (tracked === undefined) throw new Error(`no job ${id} in this run`);
  return attemptKey({ job: id, number: tracked.lastNumber, rank: rankIn(spoolFormat, tracked.job) });
}

/** Whether news of this attempt matters: its results are wanted and not here yet. */
export function isUnderWay(state: BatchState, name: string, id: JobId, number: number): boolean {
  const attempt = machineOf(state, name).attempts.get(id);
  return attempt?.number === number && attempt.stage.kind !== "unknown";
}

export function kindOfJob({ kinds }: RunState, id: JobId): string {
  return kinds.get(id) ?? kindOf(undefined);
}

export function countJobs({ tally, jobs }: BatchState): Counts {
  const { waiting, running, ended, unknown, succeeded, failed, stopped, lost, skipped } = tally;
  const counts = {
    succeeded,
    failed,
    stopped,
    lost,
    skipped,
    unfinished: waiting + running + ended + unknown,
  };
  if (skipped === 0) return counts;
  for (const { fate } of jobs.values()) {
    // Results without a record were put there by an older tool or by hand: they count as done.
    if (fate.kind === "skipped") counts[fate.outcome === null ? "succeeded" : endingOf(fate.outcome)]++;
  }
  return counts;
}
