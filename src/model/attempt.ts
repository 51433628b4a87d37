// One try of a job on one machine: the unit of truth. What a job is, a machine has and people see follows from its attempts.

import type { JobId, Outcome } from "./job.js";

export interface Attempt {
  /** Tells it apart from the other fates of a job. */
  readonly kind: "tried";
  readonly job: JobId;
  /** Names it on its machine, together with its job. Each assignment has the next number. */
  readonly number: number;
  /** Its place among those that wait on the machine, smallest first; null: its spool sorts by job. */
  readonly rank: number | null;
  readonly machine: string;
  /** False: overtaken. Another attempt, or another command, has taken its place. */
  isCurrent: boolean;
  /** Which run of the job it is, from 1; null while it is not known to have begun. */
  run: number | null;
  stage: Stage;
}

/** How far an attempt is, with what is true there. */
export type Stage =
  /** Chosen for its machine, and not sent. */
  | { readonly kind: "assigned" }
  /** Sent: it may have arrived. */
  | { readonly kind: "sent" }
  /** On its machine, and not begun as far as is known. */
  | { readonly kind: "queued" }
  /** Begun; `slot` and `startedAt` are null until the machine's log is read. */
  | ({ readonly kind: "running"; readonly isStopping: boolean } & Course)
  /** Its results are still on the machine. */
  | ({ readonly kind: "ended" } & Ending)
  /** Its results cannot be taken, and stay on the machine. */
  | ({ readonly kind: "stuck" } & Ending)
  /**
   * Its results are here. `isThere`: they are on the machine as well. `isKept`: they stay there for the next attempt.
   * `missing`: these paths of them could not be taken.
   */
  | ({
      readonly kind: "collected";
      isThere: boolean;
      readonly isKept: boolean;
      readonly isToRetry: boolean;
      readonly missing: readonly string[];
    } & Ending)
  /** Its machine was left out while it had the attempt. */
  | { readonly kind: "unknown" };

export interface Course {
  readonly slot: number | null;
  /** By this computer's clock: when it began, or else when this computer learned of it; null: it is not known when. */
  readonly startedAt: number | null;
}

export interface Ending extends Course {
  /** As `startedAt`. */
  readonly endedAt: number | null;
  /** By the machine's clock. */
  readonly durationMs: number;
  readonly outcome: Outcome;
}

/** One for all, since there may be very many. */
export const ASSIGNED: Stage = { kind: "assigned" };
export const SENT: Stage = { kind: "sent" };
export const QUEUED: Stage = { kind: "queued" };
export const UNKNOWN: Stage = { kind: "unknown" };

/** Its machine has it or is to get it, and it has not begun, as far as is known. */
export function isUnbegun({ stage: { kind } }: Attempt): boolean {
  return kind === "assigned" || kind === "sent" || kind === "queued";
}

/** How far each stage is on the way: news of an attempt is what takes it further. */
const PROGRESS: Record<Stage["kind"], number> = {
  assigned: 0,
  sent: 0,
  queued: 0,
  unknown: 0,
  running: 1,
  ended: 2,
  stuck: 3,
  collected: 4,
};

export function isBefore({ kind }: Stage, other: Stage["kind"]): boolean {
  return PROGRESS[kind] < PROGRESS[other];
}

export function courseOf(stage: Stage): Course {
  return "slot" in stage ? stage : { slot: null, startedAt: null };
}
