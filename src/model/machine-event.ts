// Events about a machine: its connection, the jobs it was given, and what travels to it and back.

import type { JobId, Outcome } from "./job.js";
import type { ShortKind } from "./left-out.js";
import type { Capacity, Slot } from "./machine.js";

export type MachineEvent =
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
      /** The kinds that it can never run. Absent: none. */
      readonly short?: readonly ShortKind[];
    }
  /** Jobs of new kinds arrived: the machine can run these. */
  | {
      readonly kind: "machine-serves";
      readonly machine: string;
      readonly kinds: readonly string[];
      /** As in `machine-ready`. */
      readonly short?: readonly ShortKind[];
    }
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
      /** As in `machine-ready`. */
      readonly short?: readonly ShortKind[];
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
  /** Progress of a collection. Only large collections report it. */
  | {
      readonly kind: "collecting";
      readonly machine: string;
      readonly receivedBytes: number;
      readonly totalBytes: number;
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
  /** Nothing of this batch is left on the machine. */
  | { readonly kind: "machine-done"; readonly machine: string };
