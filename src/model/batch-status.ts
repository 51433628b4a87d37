// The status of each job of a batch, for people and programs.

import type { JobWord } from "./batch-state.js";
import type { JobId, Outcome } from "./job.js";

export interface JobStatus {
  readonly job: JobId;
  readonly name: string;
  readonly line: number | null;
  readonly state: JobWord;
  /** Its results are on the local disk. */
  readonly isHere: boolean;
  readonly machine: string | null;
  readonly slot: number | null;
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
  readonly jobs: readonly JobStatus[];
  /** "process 1234"; null if no client follows the batch. */
  readonly follower: string | null;
  /** The command that resumes the batch. */
  readonly command: string;
  /** Machines that could not be reached: their jobs are shown as last known. */
  readonly unreached: readonly { readonly machine: string; readonly reason: string }[];
}
