// Events about a run as a whole: its jobs, its end, and what people ask of it.

import type { BatchSettings, FeedPosition } from "./batch.js";
import type { NeedAdvice } from "./footprint.js";
import type { HaltRule } from "./halt-rule.js";
import type { Job, JobId, Outcome } from "./job.js";
import type { Incomplete } from "./job-event.js";
import type { MachineSpec } from "./machine.js";
import type { ScriptEdit } from "./script-edit.js";

export type BatchEvent =
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
  /** What `--copy-forward` found. `leftOut` names the paths that are not copied because of an ignore rule or their kind. */
  | {
      readonly kind: "tree-read";
      readonly files: number;
      readonly bytes: number;
      readonly leftOut: readonly string[];
    }
  | { readonly kind: "warning"; readonly message: string }
  /** So many earlier results of jobs were removed, since newer ones are in place (`--max-old`). */
  | { readonly kind: "old-results-removed"; readonly count: number; readonly bytes: number }
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
    };

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
  /** How many of the unfinished jobs no machine can ever run; absent: 0. */
  readonly leftOut?: number;
  /** Skipped, because there was no failure that they were to begin after. In no other count; absent: 0. */
  readonly unneeded?: number;
}
