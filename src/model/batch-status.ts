// How far each job of a batch is, for people and programs that ask.

import type { JobWord } from "./batch-state.js";
import type { JobId, Outcome } from "./job.js";

export interface JobStatus {
  readonly job: JobId;
  readonly name: string;
  readonly line: number | null;
  readonly state: JobWord;
  /** Its results are on this computer. */
  readonly isHere: boolean;
  readonly machine: string | null;
  readonly slot: number | null;
  /** Which run of the job it is, from 1; 0: it has not begun. */
  readonly attempt: number;
  /** By this computer's clock; null: it has not begun, or it is not known when. */
  readonly startedAt: number | null;
  /** How long it runs or ran; null: it has not begun, or it is not known. */
  readonly elapsedMs: number | null;
  /** Names the attempt on its machine. */
  readonly key: string | null;
  /** Null while it has none, and for results that no record tells of. */
  readonly outcome: Outcome | null;
  /** Of a job of a sweep. */
  readonly parameters?: Readonly<Record<string, string>>;
  /** Of a job whose results are in place: what of them is still on its machine. */
  readonly missing?: readonly string[];
  /** Of a job that ended: why its results could not be taken so far. */
  readonly reason?: string;
}

/** How long a batch takes. */
export interface BatchTimes {
  /** A client follows it, or a machine has a job of it to run. */
  readonly isAtWork: boolean;
  /** Over all of its clients. */
  readonly elapsedMs: number;
  /** Null: it is not known. */
  readonly timeLeftMs: number | null;
}

export interface BatchStatus extends BatchTimes {
  readonly batch: string;
  readonly jobs: readonly JobStatus[];
  /** "process 1234"; null: no client does. */
  readonly follower: string | null;
  /** What to type to go on with it. */
  readonly command: string;
  /** Their jobs are as last known. */
  readonly unreached: readonly { readonly machine: string; readonly reason: string }[];
}
