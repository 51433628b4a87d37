// Events about one job or more: what became of them, and what they printed.

import type { Footprint } from "./footprint.js";
import type { Dependency, JobId, Outcome, Requirement, Turnout } from "./job.js";
import type { MachineReason } from "./left-out.js";

export type JobEvent =
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
  /** No machine can ever run these jobs, which need the same. `reasons`: of each machine. */
  | {
      readonly kind: "jobs-left-out";
      readonly jobs: readonly JobId[];
      readonly reasons: readonly MachineReason[];
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
  /** Its results cannot be collected, and stay on the machine. */
  | {
      readonly kind: "job-stuck";
      readonly job: JobId;
      readonly attempt: number;
      readonly machine: string;
      readonly reason: string;
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
    } & GrownNeed);

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
