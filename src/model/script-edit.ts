// How a batch file differs from the one that was run before, and what follows from that for jobs and their results.

import type { JobId } from "./job.js";

export interface ScriptEdit {
  /** Jobs that were tried, and have another name now: `from`, `from.out` and `from.err` move to `to`. */
  readonly moves: readonly JobMove[];
  /** Jobs whose command is no longer in the file. Attempts that wait are taken back, those that run are followed to their end. */
  readonly gone: readonly JobId[];
  /** Jobs that start only after the attempts of a gone one were taken back: each is another version of the same line. */
  readonly after: readonly (readonly [JobId, JobId])[];
  /** Other files of job_results/ that move: from, to. */
  readonly files: readonly FileMove[];
  readonly counts: EditCounts;
}

export interface JobMove {
  readonly job: JobId;
  readonly from: string;
  readonly to: string;
}

export type FileMove = readonly [from: string, to: string];

interface EditCounts {
  /** Results that moved to another line. */
  readonly moved: number;
  /** Results, or running jobs, of commands that are gone. */
  readonly aside: number;
  /** Commands that are gone and have not begun. */
  readonly dropped: number;
  /** Commands that are new. */
  readonly added: number;
}
