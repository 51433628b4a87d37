// All events of a run. They are recorded, folded into the state and shown to people. `at` is the local time in
// milliseconds at which the client learned of the event. Durations are measured by the machine's clock.

import type { BatchSettings, FeedPosition } from "./batch.js";
import type { Footprint, NeedAdvice } from "./footprint.js";
import type { HaltRule } from "./halt-rule.js";
import type { Dependency, Job, JobId, Outcome, Requirement, Turnout } from "./job.js";
import type { Capacity, MachineSpec, Slot } from "./machine.js";
import type { ScriptEdit } from "./script-edit.js";

export type RunEvent = { readonly at: number } & (
  | {
      readonly kind: "run-started";
      /** The version of the client; records of version 1 have none. */
      readonly sshoal?: string;
      /** The format of the spools that this run makes; absent: 1 or 2. */
      readonly spoolFormat?: number;
      readonly batch: string;
      readonly script: string;
      readonly jobs: readonly Job[];
      readonly machines: readonly Pick<
        MachineSpec,
        "name" | "address" | "scratch" | "file" | "spool" | "resources"
      >[];
      readonly settings: BatchSettings;
      /** The edit of the batch file since the last run; absent if there was none. */
      readonly edit?: ScriptEdit;
    }
  /** Results have the names that the last `edit` gave their jobs. */
  | { readonly kind: "results-moved" }
  /** Jobs that arrived after the run had begun. `position`: how far a growing file was read by then. */
  | {
      readonly kind: "jobs-added";
      readonly jobs: readonly Job[];
      readonly position: FeedPosition | null;
    }
  /** A command that arrived never runs, because its options have a mistake. A `warning` says which. */
  | { readonly kind: "job-refused"; readonly line: number; readonly reason: string }
  /** No more jobs will arrive. */
  | { readonly kind: "jobs-complete" }
  /** The state in which an earlier client left the batch. */
  | {
      readonly kind: "run-resumed";
      readonly done: number;
      readonly running: number;
      readonly waiting: number;
      /** Machines that have jobs. */
      readonly machines: readonly string[];
      /** The jobs of each of those machines. */
      readonly held: Readonly<Record<string, readonly JobId[]>>;
    }
  /** Results existed before this run. `outcome` is null if no record has the job's end. */
  | {
      readonly kind: "job-skipped";
      readonly job: JobId;
      readonly outcome: Outcome | null;
      /** The run was not asked to run it, as with `attach`, `stop`, and `retry` of other jobs. */
      readonly isUnasked?: true;
    }
  /** It does not run, because a job that it comes after did not end as it needs. It waits again if that job runs again. */
  | {
      readonly kind: "job-blocked";
      readonly job: JobId;
      /** The job that it comes after, and what had to become of it. */
      readonly by: JobId;
      readonly when: Dependency["when"];
      /** What became of it. */
      readonly turnout: Exclude<Turnout, "open">;
      /** It was to begin after a failure, and there was none. */
      readonly isUnneeded?: true;
    }
  /** Its results were removed, or moved to `aside` in job_results/ to run it again. */
  | { readonly kind: "job-reopened"; readonly job: JobId; readonly aside?: string }
  /** Its command or its requirement changed before it began. */
  | { readonly kind: "job-replaced"; readonly job: JobId }
  | {
      readonly kind: "machine-ready";
      readonly machine: string;
      readonly capacity: Capacity;
      /** A forecast for the first kind of jobs that waits: cards are chosen when a job starts. */
      readonly slots: readonly Slot[];
      /** No job fits now: the one slot is for jobs that wait there. Absent: false. */
      readonly isFull?: boolean;
      /** The kinds of jobs that the machine can run; absent in records of version 0.3: those of its slots. */
      readonly kinds?: readonly string[];
    }
  /** Jobs of these kinds arrived, and the machine can run them, too. */
  | { readonly kind: "machine-serves"; readonly machine: string; readonly kinds: readonly string[] }
  /** The connection is lost, but the machine may be fine: its jobs continue, and the client resumes when it reconnects. */
  | { readonly kind: "machine-lost"; readonly machine: string; readonly reason: string }
  | { readonly kind: "machine-back"; readonly machine: string }
  /** The machine has not answered since then, so the connection may be lost; null: it answers again. For the live view. */
  | { readonly kind: "machine-quiet"; readonly machine: string; readonly since: number | null }
  /** Left out for the rest of the run. `hint` says what to type next. */
  | {
      readonly kind: "machine-failed";
      readonly machine: string;
      readonly reason: string;
      readonly hint: string | null;
      /** Another client follows the batch on this machine. */
      readonly isHeld?: true;
      /** It was measured, and has no room for a job. */
      readonly hasNoRoom?: true;
    }
  /** It could not accept these jobs and gets no other ones. The jobs that it has continue. */
  | {
      readonly kind: "machine-refused";
      readonly machine: string;
      readonly jobs: readonly JobId[];
      readonly reason: string;
      readonly hint: string | null;
    }
  /** Only on this machine, the first jobs crashed at once. It gets no more jobs, and `jobs` are retried elsewhere. */
  | {
      readonly kind: "machine-set-aside";
      readonly machine: string;
      readonly jobs: readonly JobId[];
      /** It was set aside before, and further jobs that had begun crashed. */
      readonly isMore?: true;
      /** Of the first crash, with the last lines of its stderr. */
      readonly outcome: Outcome;
      readonly stderrTail: string;
    }
  /** It gets no more jobs. Its waiting jobs go to other machines. */
  | { readonly kind: "machine-draining"; readonly machine: string }
  /** It may get jobs again. */
  | { readonly kind: "machine-opened"; readonly machine: string }
  /** What `--copy-forward` found. `leftOut` names the paths that are not copied because of an ignore rule or their kind. */
  | {
      readonly kind: "tree-read";
      readonly files: number;
      readonly bytes: number;
      readonly leftOut: readonly string[];
    }
  /** The working directory is being copied. `totalBytes` is 0 if the machine already had it. */
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
      /** The numbers of these attempts, in the same order; absent in records of version 0.1. */
      readonly attempts?: readonly number[];
    }
  | { readonly kind: "jobs-handed-over"; readonly machine: string; readonly jobs: readonly JobId[] }
  | {
      readonly kind: "slot-waiting";
      readonly machine: string;
      readonly slot: number;
      readonly reason: string;
      /** The first job that waits for it; absent: an older slot, which does not tell. */
      readonly job?: JobId;
    }
  | {
      readonly kind: "job-started";
      readonly job: JobId;
      readonly attempt: number;
      readonly machine: string;
      readonly slot: number;
      /** By the local clock, computed from the machine's uptime; absent if the machine does not report it. */
      readonly startedAt?: number;
      /** The cards that it got: their indices, or UUIDs of slices. Absent: none. */
      readonly gpus?: readonly string[];
      /** The instances of named resources that it got. Absent: none. */
      readonly resources?: Readonly<Record<string, readonly string[]>>;
    }
  /** What a further attempt starts with if its directory is kept (`--keep-dir`). */
  | ({
      readonly kind: "job-resumes";
      readonly job: JobId;
      readonly attempt: number;
      readonly machine: string;
    } & Resumption)
  /** The last line that a running job printed, for the live view. `saidAt`: when an earlier client had it. */
  | {
      readonly kind: "job-said";
      readonly job: JobId;
      readonly text: string;
      readonly saidAt?: number;
    }
  /** Output of a job, with `--tee`: one or more whole lines, or a last line without a newline. Never recorded. */
  | {
      readonly kind: "job-output";
      readonly job: JobId;
      readonly attempt: number;
      readonly stream: "out" | "err";
      readonly text: string;
    }
  /** The job emptied its own output. The `kept` bytes that were fetched before stay, and new output is appended. */
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
      /** What it used. Absent: unknown. */
      readonly footprint?: Footprint;
    }
  /** Progress of a collection. Only large collections report it. */
  | {
      readonly kind: "collecting";
      readonly machine: string;
      readonly receivedBytes: number;
      readonly totalBytes: number;
    }
  /** Its results are in place on the local disk. */
  | {
      readonly kind: "job-collected";
      readonly job: JobId;
      readonly attempt: number;
      readonly machine: string;
      readonly outcome: Outcome;
      readonly files: number;
      readonly bytes: number;
      /** Paths of its results that could not be collected and stay on the machine. Absent: nothing is missing. */
      readonly missing?: readonly string[];
      /** Another result of the job is in place: these results are under this name in job_results/. */
      readonly beside?: string;
      /** As in `job-ended`. */
      readonly footprint?: Footprint;
    }
  /** The machine was asked again for missing results: `files` arrived, `missing` still could not be collected. */
  | {
      readonly kind: "rest-collected";
      readonly job: JobId;
      readonly attempt: number;
      readonly machine: string;
      readonly files: number;
      readonly bytes: number;
      readonly missing: readonly string[];
    }
  /** Archives are verified and about to be put into place. After a crash, results in place are these. */
  | {
      readonly kind: "jobs-arrived";
      readonly machine: string;
      readonly jobs: readonly JobId[];
      /** The attempts of these jobs, in the same order. */
      readonly attempts: readonly number[];
      /** By job, as in `job-collected`; absent: nothing is missing. */
      readonly missing?: Readonly<Record<JobId, readonly string[]>>;
    }
  /** Its results cannot be collected, and stay on the machine. */
  | {
      readonly kind: "job-stuck";
      readonly job: JobId;
      readonly attempt: number;
      readonly machine: string;
      readonly reason: string;
    }
  | { readonly kind: "warning"; readonly message: string }
  /** Jobs that had not begun are back at the client. `begun`: requested jobs that had already begun. */
  | {
      readonly kind: "jobs-taken-back";
      readonly machine: string;
      readonly jobs: readonly JobId[];
      readonly begun: readonly JobId[];
    }
  /** The machine was unreachable for too long: its waiting jobs go to other machines. */
  | { readonly kind: "jobs-reassigned"; readonly machine: string; readonly jobs: readonly JobId[] }
  /** These jobs are retried. The files of their last attempts moved to `asides` in job_results/, by job. */
  | {
      readonly kind: "jobs-retried";
      readonly machine: string;
      readonly jobs: readonly JobId[];
      readonly asides?: Readonly<Record<JobId, string>>;
      /** Those of them that are retried because of a `job-grown`. Absent: none. */
      readonly grown?: readonly JobId[];
    }
  /** With `--retry-on-oom`: the job ran out of memory on this machine. */
  | ({
      readonly kind: "job-grown";
      readonly job: JobId;
      readonly attempt: number;
      readonly machine: string;
      readonly outcome: Outcome;
      /** The requirement that was too small. */
      readonly before: Requirement;
    } & GrownNeed)
  /**
   * These jobs were handed over, but the machine no longer has them. Their fate is unknown, so no other machine gets
   * them.
   */
  | { readonly kind: "jobs-gone"; readonly machine: string; readonly jobs: readonly JobId[] }
  /** The machine keeps the directories of exactly these jobs until the jobs succeed. */
  | {
      readonly kind: "dirs-kept";
      readonly machine: string;
      readonly jobs: readonly JobId[];
      readonly bytes: number;
    }
  /** So many earlier results of jobs were removed, since newer ones are in place (`--max-old`). */
  | { readonly kind: "old-results-removed"; readonly count: number; readonly bytes: number }
  /** Nothing of this batch is left on the machine. */
  | { readonly kind: "machine-done"; readonly machine: string }
  /** A user stops these jobs: running ones are ended, and waiting ones do not begin. */
  | { readonly kind: "jobs-stopping"; readonly jobs: readonly JobId[] }
  /** Stopped jobs are requested again. */
  | { readonly kind: "jobs-resumed"; readonly jobs: readonly JobId[] }
  /** Ctrl-C: `drain` lets running jobs finish, `stop` ends them. */
  | { readonly kind: "interrupted"; readonly mode: "drain" | "stop" }
  /**
   * A `--halt` rule ends the run because enough jobs failed, succeeded or are done. `soon` acts like `drain`, `now`
   * like `stop`.
   */
  | {
      readonly kind: "halted";
      readonly when: HaltRule["when"];
      readonly why: HaltRule["why"];
      readonly count: number;
      /** The rule as typed: `soon,fail=3`. */
      readonly rule: string;
    }
  /**
   * The first jobs of the run crashed at once, with the same exit code and last line of stderr. `pause` acts like
   * `paused`, `halt` like `interrupted` with `drain`.
   */
  | {
      readonly kind: "same-crash";
      readonly jobs: readonly JobId[];
      /** Of the first crash, with the last lines of its stderr. */
      readonly outcome: Outcome;
      readonly stderrTail: string;
      readonly action: "pause" | "halt";
    }
  /** No new jobs begin until `continued`; running jobs continue. `pid` is this client. */
  | { readonly kind: "paused"; readonly pid: number }
  /** New jobs begin again. `from`: the state that ended; absent: `paused`. */
  | { readonly kind: "continued"; readonly from?: "drain" }
  | {
      readonly kind: "run-ended";
      readonly counts: Counts;
      /** Results of which a part is still on a machine; absent: there are none. */
      readonly incomplete?: readonly Incomplete[];
      /** Needs that are larger than what jobs used; absent: none, or smaller ones would not help. */
      readonly needs?: readonly NeedAdvice[];
    }
);

export type JobStarted = Extract<RunEvent, { kind: "job-started" }>;

/** What a job needs after it ran out of memory. */
export type GrownNeed =
  /** It runs once more with this requirement. `prefers`: the machine where most is free; null: any machine. */
  | { readonly requirement: Requirement; readonly prefers: string | null }
  /** No machine can give it more, so it does not run once more. */
  | { readonly requirement: null; readonly reason: string };

/** What a further attempt of a job starts with. */
export type Resumption =
  /** The directory of the last attempt, which is on the same machine. */
  | { readonly from: "machine" }
  /** The collected copy of it, `copy` in job_results/. */
  | { readonly from: "copy"; readonly copy: string }
  | { readonly from: "nothing"; readonly reason: string };

/** An attempt whose results are in place, except for the `missing` paths. */
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
  /** Stopped by Ctrl-C, `sshoal stop` or `--halt now`. */
  readonly stopped: number;
  /** Lost with their machines. */
  readonly lost: number;
  /** Not begun, not collected, or of unknown fate. */
  readonly unfinished: number;
  /** How many of the finished jobs had results before this run. */
  readonly skipped: number;
  /** How many of the unfinished jobs were skipped, because a job that they come after did not end as they need; absent: 0. */
  readonly blocked?: number;
  /** Skipped, because there was no failure that they were to begin after. In no other count; absent: 0. */
  readonly unneeded?: number;
}
