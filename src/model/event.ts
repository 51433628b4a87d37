// Everything that can happen in a run. Events are recorded, folded into the state and shown to people;
// `at` is this computer's clock in milliseconds when it learned of it, durations come from the machine's own.

import type { BatchSettings, FeedPosition } from "./batch.js";
import type { HaltRule } from "./halt-rule.js";
import type { Job, JobId, Outcome } from "./job.js";
import type { Capacity, MachineSpec, Slot } from "./machine.js";
import type { ScriptEdit } from "./script-edit.js";

export type RunEvent = { readonly at: number } & (
  | {
      readonly kind: "run-started";
      /** The version of the client; records of version 1 have none. */
      readonly sshoal?: string;
      readonly batch: string;
      readonly script: string;
      readonly jobs: readonly Job[];
      readonly machines: readonly Pick<MachineSpec, "name" | "address" | "scratch" | "file" | "spool">[];
      readonly settings: BatchSettings;
      /** The batch file was edited since the last run; left out: it was not. */
      readonly edit?: ScriptEdit;
    }
  /** Results are filed under the names that the last `edit` gave their jobs. */
  | { readonly kind: "results-moved" }
  /** Jobs that came after the run had begun; `position`: how far a growing file has been read by then. */
  | {
      readonly kind: "jobs-added";
      readonly jobs: readonly Job[];
      readonly position: FeedPosition | null;
    }
  /** No more jobs will come. */
  | { readonly kind: "jobs-complete" }
  /** An earlier client left the batch like this. */
  | {
      readonly kind: "run-resumed";
      readonly done: number;
      readonly running: number;
      readonly waiting: number;
      /** Where jobs are. */
      readonly machines: readonly string[];
      /** Which jobs each of those machines has. */
      readonly held: Readonly<Record<string, readonly JobId[]>>;
    }
  /** Results were there before this run; `outcome` is null when no record tells how the job ended. */
  | {
      readonly kind: "job-skipped";
      readonly job: JobId;
      readonly outcome: Outcome | null;
      /** This run was not asked to run it: `attach`, `stop`, and `retry` of other jobs. */
      readonly isUnasked?: true;
    }
  /** Its results were removed, or moved aside to run it again: to `aside`, in job_results/. */
  | { readonly kind: "job-reopened"; readonly job: JobId; readonly aside?: string }
  /** Its command or its need has changed before it began. */
  | { readonly kind: "job-replaced"; readonly job: JobId }
  | {
      readonly kind: "machine-ready";
      readonly machine: string;
      readonly capacity: Capacity;
      readonly slots: readonly Slot[];
    }
  /** The link is gone, the machine perhaps not: what is there goes on, and is picked up when the link is back. */
  | { readonly kind: "machine-lost"; readonly machine: string; readonly reason: string }
  | { readonly kind: "machine-back"; readonly machine: string }
  /** It has not answered since then, and the link may be lost; null: it answers again. For the live view. */
  | { readonly kind: "machine-quiet"; readonly machine: string; readonly since: number | null }
  /** Left out for good. `hint` says what to type next. */
  | {
      readonly kind: "machine-failed";
      readonly machine: string;
      readonly reason: string;
      readonly hint: string | null;
      /** Another client follows the batch there. */
      readonly isHeld?: true;
      /** It was measured, and has no room for a job. */
      readonly hasNoRoom?: true;
    }
  /** It could not take these jobs, nor will it be given others; what it has goes on. */
  | {
      readonly kind: "machine-refused";
      readonly machine: string;
      readonly jobs: readonly JobId[];
      readonly reason: string;
      readonly hint: string | null;
    }
  /** It gets no more jobs; what it had not begun goes to others. */
  | { readonly kind: "machine-draining"; readonly machine: string }
  /** It may have jobs again. */
  | { readonly kind: "machine-opened"; readonly machine: string }
  /** What `--copy-forward` found; `leftOut` names what an ignore rule or its kind keeps here. */
  | {
      readonly kind: "tree-read";
      readonly files: number;
      readonly bytes: number;
      readonly leftOut: readonly string[];
    }
  /** The working directory is being copied; `totalBytes` 0: it was there already. */
  | {
      readonly kind: "staging";
      readonly machine: string;
      readonly sentBytes: number;
      readonly totalBytes: number;
    }
  | { readonly kind: "staged"; readonly machine: string }
  /** Each assignment of a job is a new attempt. */
  | {
      readonly kind: "jobs-assigned";
      readonly machine: string;
      readonly jobs: readonly JobId[];
      /** The numbers of these attempts, in the same order; records of version 0.1 have none. */
      readonly attempts?: readonly number[];
    }
  | { readonly kind: "jobs-handed-over"; readonly machine: string; readonly jobs: readonly JobId[] }
  | {
      readonly kind: "slot-waiting";
      readonly machine: string;
      readonly slot: number;
      readonly reason: string;
    }
  | {
      readonly kind: "job-started";
      readonly job: JobId;
      readonly attempt: number;
      readonly machine: string;
      readonly slot: number;
      /** By this computer's clock, from the machine's uptime; left out: the machine does not tell. */
      readonly startedAt?: number;
    }
  /** A job that ran before was handed over: what this attempt begins with, where its directory is kept (`--keep-dir`). */
  | ({
      readonly kind: "job-resumes";
      readonly job: JobId;
      readonly attempt: number;
      readonly machine: string;
    } & Resumption)
  /** The last line a running job printed, for the live view. `saidAt`: an earlier client had it by then. */
  | {
      readonly kind: "job-said";
      readonly job: JobId;
      readonly text: string;
      readonly saidAt?: number;
    }
  /** What a job printed, with `--tee`: one or more whole lines, or the last one, which may have no newline. Never recorded. */
  | {
      readonly kind: "job-output";
      readonly job: JobId;
      readonly attempt: number;
      readonly stream: "out" | "err";
      readonly text: string;
    }
  /** The job has emptied its own output: `kept` bytes that were fetched before stay, and what it prints now is added. */
  | {
      readonly kind: "output-restarted";
      readonly job: JobId;
      readonly attempt: number;
      readonly stream: "out" | "err";
      readonly kept: number;
    }
  | {
      readonly kind: "job-ended";
      readonly job: JobId;
      readonly attempt: number;
      readonly machine: string;
      readonly outcome: Outcome;
      readonly durationMs: number;
      /** Of a job that failed: the last lines of its stderr. Left out: the machine did not answer in time. Never recorded. */
      readonly stderrTail?: string;
    }
  /** A large collection is on its way: only of those it is told how far they are. */
  | {
      readonly kind: "collecting";
      readonly machine: string;
      readonly receivedBytes: number;
      readonly totalBytes: number;
    }
  /** Its results are in place on this computer's disk. */
  | {
      readonly kind: "job-collected";
      readonly job: JobId;
      readonly attempt: number;
      readonly machine: string;
      readonly outcome: Outcome;
      readonly files: number;
      readonly bytes: number;
      /** Paths below its results that could not be taken: they stay on the machine. Left out: nothing is missing. */
      readonly missing?: readonly string[];
      /** Another result is in place: this one is beside it, in job_results/. */
      readonly beside?: string;
    }
  /** The machine was asked again for what was missing. `files` came; `missing` still could not be taken. */
  | {
      readonly kind: "rest-collected";
      readonly job: JobId;
      readonly attempt: number;
      readonly machine: string;
      readonly files: number;
      readonly bytes: number;
      readonly missing: readonly string[];
    }
  /** Its archive is verified and about to be put into place: after a crash, results that are in place are these. */
  | {
      readonly kind: "jobs-arrived";
      readonly machine: string;
      readonly jobs: readonly JobId[];
      /** Of these jobs, in the same order. */
      readonly attempts: readonly number[];
      /** By job, as in `job-collected`; left out: nothing is missing. */
      readonly missing?: Readonly<Record<JobId, readonly string[]>>;
    }
  /** Its results cannot be taken, and stay over there. */
  | {
      readonly kind: "job-stuck";
      readonly job: JobId;
      readonly attempt: number;
      readonly machine: string;
      readonly reason: string;
    }
  | { readonly kind: "warning"; readonly message: string }
  /** Jobs that nobody had begun are with this computer again; of those asked for, `begun` had been begun. */
  | {
      readonly kind: "jobs-taken-back";
      readonly machine: string;
      readonly jobs: readonly JobId[];
      readonly begun: readonly JobId[];
    }
  /** The machine has been away too long: what it had not begun goes to others. */
  | { readonly kind: "jobs-reassigned"; readonly machine: string; readonly jobs: readonly JobId[] }
  /** They are tried once more; what the last attempt left has moved aside: to `asides`, by job, in job_results/. */
  | {
      readonly kind: "jobs-retried";
      readonly machine: string;
      readonly jobs: readonly JobId[];
      readonly asides?: Readonly<Record<JobId, string>>;
    }
  /** They were handed over, and are not there any more: their fate is unknown, and no other machine gets them. */
  | { readonly kind: "jobs-gone"; readonly machine: string; readonly jobs: readonly JobId[] }
  /** The directories of these jobs stay on the machine until the jobs succeed, and those of no others. */
  | {
      readonly kind: "dirs-kept";
      readonly machine: string;
      readonly jobs: readonly JobId[];
      readonly bytes: number;
    }
  /** So many earlier results of jobs were removed, since newer ones are in place (`--max-old`). */
  | { readonly kind: "old-results-removed"; readonly count: number; readonly bytes: number }
  /** Nothing of this batch is left over there. */
  | { readonly kind: "machine-done"; readonly machine: string }
  /** A user stops these jobs: what runs is ended, and what has not begun does not begin. */
  | { readonly kind: "jobs-stopping"; readonly jobs: readonly JobId[] }
  /** Jobs that were stopped are wanted again. */
  | { readonly kind: "jobs-resumed"; readonly jobs: readonly JobId[] }
  /** Ctrl-C: `drain` lets running jobs finish, `stop` ends them. */
  | { readonly kind: "interrupted"; readonly mode: "drain" | "stop" }
  /** So many jobs failed, succeeded or are done that the run ends, as `rule` says: `soon` as by `drain`, `now` by `stop`. */
  | {
      readonly kind: "halted";
      readonly when: HaltRule["when"];
      readonly why: HaltRule["why"];
      readonly count: number;
      /** As it was typed: `soon,fail=3`. */
      readonly rule: string;
    }
  /** No new jobs until `continued`; what runs goes on. `pid` is this client. */
  | { readonly kind: "paused"; readonly pid: number }
  /** New jobs begin again. `from`: what kept them from it; left out: `paused`. */
  | { readonly kind: "continued"; readonly from?: "drain" }
  | {
      readonly kind: "run-ended";
      readonly counts: Counts;
      /** Results of which something is still on a machine; left out: there are none. */
      readonly incomplete?: readonly Incomplete[];
    }
);

/** What an attempt of a job begins with that ran before. */
export type Resumption =
  /** The directory of the last attempt, which is on the same machine. */
  | { readonly from: "machine" }
  /** What was collected of it, `copy` in job_results/. */
  | { readonly from: "copy"; readonly copy: string }
  | { readonly from: "nothing"; readonly reason: string };

/** An attempt whose results are in place, but for what is `missing`. */
export interface Incomplete {
  readonly job: JobId;
  readonly attempt: number;
  readonly machine: string;
  readonly missing: readonly string[];
}

/** An event before it has a time. */
export type News = RunEvent extends infer Event ? (Event extends unknown ? Omit<Event, "at"> : never) : never;

export interface Counts {
  readonly succeeded: number;
  readonly failed: number;
  /** Ended by Ctrl-C, `sshoal stop` or `--halt now`. */
  readonly stopped: number;
  /** Went down with their machines. */
  readonly lost: number;
  /** Not begun, not collected, or of unknown fate. */
  readonly unfinished: number;
  /** Of those that are over: how many had their results before this run. */
  readonly skipped: number;
}
