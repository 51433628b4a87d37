// How a batch file differs from the one that ran before, and what changes for jobs and their results.

import type { JobId } from "./job.js";

export interface ScriptEdit {
  /** Attempted jobs that have another name now: `from`, `from.out` and `from.err` move to `to`. */
  readonly moves: readonly JobMove[];
  /** Jobs whose command is no longer in the file. Waiting attempts are taken back, running ones are followed to their end. */
  readonly gone: readonly JobId[];
  /**
   * Pairs of a job and a gone version of the same line. The job starts only after the gone one's attempts were taken
   * back.
   */
  readonly after: readonly (readonly [JobId, JobId])[];
  /** Other files of job_results/ that move, as pairs of from and to. */
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
  /** Results or running jobs of commands that are gone. */
  readonly aside: number;
  /** Commands that are gone and had not begun. */
  readonly dropped: number;
  /** Commands that are new. */
  readonly added: number;
}
