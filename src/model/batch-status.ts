// How far each job of a batch is, and the batch itself, for people and programs that ask.

import type { DependencyFact } from "./dependency.js";
import type { Footprint } from "./footprint.js";
import type { JobId, Outcome } from "./job.js";
import type { MachineReason } from "./left-out.js";
import type { Slot } from "./machine.js";
import { JOB_WORDS, type JobWord } from "./standing.js";

export interface JobStatus {
  readonly job: JobId;
  readonly name: string;
  readonly line: number | null;
  readonly state: JobWord;
  /** Its results are on the local disk. */
  readonly isHere: boolean;
  readonly machine: string | null;
  readonly slot: number | null;
  /** The cards that it got. Absent: none, or an older slot. */
  readonly gpus?: readonly string[];
  /** Which run of the job it is, from 1; 0: it has not begun. */
  readonly attempt: number;
  /** By the local clock; null if it has not begun or the time is unknown. */
  readonly startedAt: number | null;
  /** How long it has run; null if it has not begun or the time is unknown. */
  readonly elapsedMs: number | null;
  /** The key of the attempt on its machine. */
  readonly key: string | null;
  /** Null if it has not ended, and for results without a record. */
  readonly outcome: Outcome | null;
  /** The parameters of a sweep's job. */
  readonly parameters?: Readonly<Record<string, string>>;
  /** Paths of collected results that are still on the machine. */
  readonly missing?: readonly string[];
  /** Why the results of an ended job could not be collected so far. */
  readonly reason?: string;
  /** The job that it waits for, or because of which it is skipped; absent: there is none. */
  readonly dependency?: DependencyFact;
  /** No machine of the last run can ever run it: the reason of each. Absent: it may run. */
  readonly leftOut?: readonly MachineReason[];
  /** What it used; absent: unknown, or it has not ended. */
  readonly footprint?: Footprint;
}

/** How long a batch takes. */
export interface BatchTimes {
  /** A client follows the batch, or a machine has a job of it to run. */
  readonly isAtWork: boolean;
  /** The sum over all clients of the batch. */
  readonly elapsedMs: number;
  /** Null if unknown. */
  readonly timeLeftMs: number | null;
}

export interface BatchStatus extends BatchTimes {
  readonly batch: string;
  /** What its jobs' names begin with: people call the batch by it. */
  readonly stem: string;
  /** Where it was started, as people write it. */
  readonly directory: string;
  readonly jobs: readonly JobStatus[];
  /** Of each machine, as last planned. */
  readonly slots: ReadonlyMap<string, readonly Slot[]>;
  /** Of each machine. */
  readonly spoolFormats: ReadonlyMap<string, number>;
  /** The end of what running and failed jobs printed; unsafe to show. */
  readonly lastWords: ReadonlyMap<JobId, string>;
  /** Why waiting jobs do not start, in the words of their machines. */
  readonly shortages: ReadonlyMap<JobId, string>;
  /** "process 1234"; null: no client does. */
  readonly follower: string | null;
  /** The client that follows the batch, if it is paused. */
  readonly pausedPid?: number | undefined;
  /** The command that resumes the batch. */
  readonly command: string;
  /** Machines that could not be reached: their jobs are shown as last known. */
  readonly unreached: readonly { readonly machine: string; readonly reason: string }[];
}

/** A batch of this computer, in whichever directory. */
export type AnyBatch =
  | ({
      readonly kind: "known";
      readonly batch: string;
      readonly stem: string;
      /** Where it was started: an absolute path. */
      readonly directory: string;
      readonly counts: WordCounts;
      /** How many of the waiting jobs no machine can ever run. */
      readonly leftOut: number;
      /** How many results are still on machines. */
      readonly toCollect: number;
      readonly follower: BatchStatus["follower"];
      /** The socket on which that client answers the HTTP API; null: it has none, or is on another computer. */
      readonly apiSocket: string | null;
      /** The last that is known to have happened. */
      readonly lastAt: number;
      /** When all this was true: in the past if a machine could not be asked. */
      readonly seenAt: number;
      readonly unreached: BatchStatus["unreached"];
    } & BatchTimes)
  | {
      readonly kind: "unreadable";
      readonly directory: string;
      readonly stem: string;
      /** Why its record cannot be read. */
      readonly problem: string;
    };

export type WordCounts = Readonly<Record<JobWord, number>>;

export function countWords(jobs: readonly { readonly state: JobWord }[]): WordCounts {
  const counts = Object.fromEntries(JOB_WORDS.map((word) => [word, 0])) as Record<JobWord, number>;
  for (const { state } of jobs) counts[state]++;
  return counts;
}

/** Of the waiting jobs, those that no machine can ever run. */
export function countLeftOut(jobs: readonly Pick<JobStatus, "leftOut">[]): number {
  return jobs.filter(({ leftOut }) => leftOut !== undefined).length;
}

/**
 * The state of the whole batch: "waiting" if jobs are left and no client or machine works on them. Jobs that no machine can ever
 * run have failed, for the batch as a whole.
 */
export function batchWord(counts: WordCounts, isAtWork: boolean, leftOut = 0): Exclude<JobWord, "skipped"> {
  if (isAtWork) return "running";
  if (counts.waiting - leftOut + counts.running > 0) return "waiting";
  if (leftOut > 0) return "failed";
  return (["failed", "lost", "stopped"] as const).find((word) => counts[word] > 0) ?? "succeeded";
}

/** It has ended, and its results are still on its machine. */
export function isToCollect({ outcome, isHere }: Pick<JobStatus, "outcome" | "isHere">): boolean {
  return outcome !== null && !isHere;
}
