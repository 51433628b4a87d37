// The state of a run beyond its jobs and machines: the user's wishes, the waiting jobs, and indices.

import { attemptKey, rankIn } from "../model/attempt-key.js";
import type { Counts } from "../model/batch-event.js";
import type { BatchState, MachineState } from "../model/batch-state.js";
import type { HaltRule } from "../model/halt-rule.js";
import { type JobId, kindOf, type Outcome, type Requirement } from "../model/job.js";
import { endingOf } from "../model/standing.js";
import type { Dependencies } from "./dependencies.js";
import type { Stock } from "./stock.js";

/** What the user wants to happen after failures. */
export interface Policy {
  /** How often a job is retried if its machine went down while it ran. */
  readonly retries: number;
  /** True if failed jobs are retried, too. */
  readonly retriesFailures: boolean;
  /** True if jobs that ran out of memory are retried once, with a larger requirement; absent: false. */
  readonly retriesOutOfMemory?: boolean;
  /** How long a machine may be unreachable before its waiting jobs go to other machines; null: for ever. */
  readonly reassignAfterMs: number | null;
  /** The rule by which the run halts by itself; absent: never. */
  readonly halt?: HaltRule | null;
  /** What happens when all first jobs crash in the same way; absent: nothing. */
  readonly onSameCrash?: "pause" | "halt";
}

/** The counts for `--halt`. */
export interface Halting {
  /** Jobs that ended in this run and are not retried. */
  readonly ended: Set<JobId>;
  failed: number;
  /** Jobs that had results before this run; they do not count for the rule. */
  skipped: number;
  /** The rule that ended the run; null if the user has ended it since. */
  reached: HaltRule | null;
  /** The run ends because its first jobs crashed in the same way. */
  isForCrash: boolean;
}

/** Jobs that crashed at once in the same way, from the first end on. */
export interface Streak {
  /** What the crashes have in common; null: no job has ended yet. */
  sign: string | null;
  readonly jobs: Set<JobId>;
  first: { readonly outcome: Outcome; readonly stderrTail: string } | null;
  /** When the client learned of the first. */
  since: number;
  /** Jobs that run elsewhere because of it. */
  readonly moved: Set<JobId>;
  /** An end was different, or the streak had its effect. */
  isOver: boolean;
}

/** The first ends of this run. */
export interface Crashes {
  readonly everywhere: Streak;
  readonly byMachine: Map<string, Streak>;
  /** Machines whose streak is long enough, and not over. */
  readonly suspects: Set<string>;
  /** Machines on which a job succeeded or took long. */
  readonly well: Set<string>;
}

/** What became of a job that ran out of memory. */
interface Growth {
  /** Its own requirement before; undefined: that of the batch. */
  readonly from: Requirement | undefined;
  /** Null: no machine can give it more. */
  readonly requirement: Requirement | null;
  /** Where it should run once more; null: anywhere, or it was assigned since. */
  prefers: string | null;
}

export interface RunState extends BatchState {
  readonly policy: Policy;
  readonly stock: Stock;
  /** Kinds of the jobs that have their own requirement. */
  readonly kinds: Map<JobId, string>;
  /** Dropped jobs that no machine can have, by kind, until it is known that none ever can. */
  readonly homeless: Map<string, Set<JobId>>;
  /** Directories of jobs stay on their machines until the jobs succeed, unless a job's own setting differs. */
  keepsDirs: boolean;
  /** Jobs come from stdin or a growing file: nothing of them stays on machines after the run. */
  readonly isFed: boolean;
  firstReadyAt: number | null;
  /** True while more jobs may arrive. */
  isMoreToCome: boolean;
  /** Commands that arrived and are no jobs, because their options have a mistake. */
  refused: number;
  /** Jobs that a user stopped and that were not requested again since. */
  readonly stopping: Set<JobId>;
  isPaused: boolean;
  halting: Halting;
  crashes: Crashes;
  /** Jobs that crashed on a machine that was set aside, or ran out of memory: their next retry does not count. */
  readonly excused: Set<JobId>;
  /** Jobs that ran out of memory, with `--retry-on-oom`. */
  readonly grown: Map<JobId, Growth>;
  readonly dependencies: Dependencies;
}

export function machineOf(state: BatchState, name: string): MachineState {
  const machine = state.machines.get(name);
  if (machine === undefined) throw new Error(`no machine ${name} in this run`);
  return machine;
}

/** Every change of a machine goes through this function, so that the next decision looks at the machine. */
export function toChange(state: RunState, name: string): MachineState {
  const machine = machineOf(state, name);
  state.stock.changed.add(machine);
  return machine;
}

/** The key of the job's attempt on this machine, or of the job's last attempt if the machine has none. */
export function keyOn(state: BatchState, name: string, id: JobId): string {
  const { attempts, spoolFormat } = machineOf(state, name);
  const attempt = attempts.get(id);
  if (attempt !== undefined) return attemptKey(attempt);
  const tracked = state.jobs.get(id);
  if (tracked === undefined) throw new Error(`no job ${id} in this run`);
  return attemptKey({ job: id, number: tracked.lastNumber, rank: rankIn(spoolFormat, tracked.job) });
}

/** True if news of this attempt matters: its results are wanted and not collected yet. */
export function isUnderWay(state: BatchState, name: string, id: JobId, number: number): boolean {
  const attempt = machineOf(state, name).attempts.get(id);
  return attempt?.number === number && attempt.stage.kind !== "unknown";
}

export function kindOfJob({ kinds }: RunState, id: JobId): string {
  return kinds.get(id) ?? kindOf(undefined);
}

export function countJobs({ tally, jobs, leftOut }: BatchState): Counts {
  const { waiting, running, ended, unknown, succeeded, failed, stopped, lost, skipped } = tally;
  const { blocked, unneeded } = tally;
  const counts = {
    succeeded,
    failed,
    stopped,
    lost,
    skipped,
    unfinished: waiting + running + ended + unknown + blocked,
    ...(blocked > 0 && { blocked }),
    ...(leftOut.size > 0 && { leftOut: leftOut.size }),
    ...(unneeded > 0 && { unneeded }),
  };
  if (skipped === 0) return counts;
  for (const { fate } of jobs.values()) {
    // Results without a record come from an older tool or were put there by hand. They count as done.
    if (fate.kind === "skipped") counts[fate.outcome === null ? "succeeded" : endingOf(fate.outcome)]++;
  }
  return counts;
}
