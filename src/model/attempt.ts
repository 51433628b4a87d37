// One try of a job on one machine. The state of a job, the load of a machine and every report are derived from
// attempts.

import type { Footprint } from "./footprint.js";
import type { JobId, Outcome } from "./job.js";

export interface Attempt {
  /** Distinguishes it from the other fates of a job. */
  readonly kind: "tried";
  readonly job: JobId;
  /** Together with its job, identifies it on its machine. Each assignment gets the next number. */
  readonly number: number;
  /** Its place among the attempts that wait on the machine, smallest first; null if its spool sorts by job. */
  readonly rank: number | null;
  readonly machine: string;
  /** False: overtaken, because another attempt or another command has replaced it. */
  isCurrent: boolean;
  /** Which run of the job it is, from 1; null until the client knows that it has begun. */
  run: number | null;
  stage: Stage;
}

/** The stage of an attempt, with the facts of that stage. */
export type Stage =
  /** Assigned to its machine, not sent yet. */
  | { readonly kind: "assigned" }
  /** Sent; it may have arrived. */
  | { readonly kind: "sent" }
  /** On its machine; as far as the client knows, it has not begun. */
  | { readonly kind: "queued" }
  /** Begun. `slot` and `startedAt` are null until the machine's log is read. */
  | ({ readonly kind: "running"; readonly isStopping: boolean } & Course)
  /** Its results are still on the machine. */
  | ({ readonly kind: "ended" } & Ending)
  /** Its results cannot be collected, and stay on the machine. */
  | ({ readonly kind: "stuck" } & Ending)
  /**
   * Its results are on the local disk. `isThere`: they are also still on the machine. `isKept`: they stay on the
   * machine for the next attempt. `missing`: paths that could not be collected.
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
  /** By the local clock: when it began, or else when the client learned of it; null if unknown. */
  readonly startedAt: number | null;
  /** The cards that it got. Absent: none, or an older slot, whose cards do not change. */
  readonly gpus?: readonly string[];
  /** The instances of named resources that it got. Absent: none. */
  readonly resources?: Readonly<Record<string, readonly string[]>>;
}

export interface Ending extends Course {
  /** Like `startedAt`. */
  readonly endedAt: number | null;
  /** By the machine's clock. */
  readonly durationMs: number;
  readonly outcome: Outcome;
  /** Absent: unknown. */
  readonly footprint?: Footprint;
}

/** Shared objects, because a batch can have very many attempts. */
export const ASSIGNED: Stage = { kind: "assigned" };
export const SENT: Stage = { kind: "sent" };
export const QUEUED: Stage = { kind: "queued" };
export const UNKNOWN: Stage = { kind: "unknown" };

/** True if it is assigned to its machine and, as far as the client knows, has not begun. */
export function isUnbegun({ stage: { kind } }: Attempt): boolean {
  return kind === "assigned" || kind === "sent" || kind === "queued";
}

/** The order of the stages. An event is news only if it moves the attempt forward. */
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
