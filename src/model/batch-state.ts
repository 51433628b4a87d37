// The state of a batch: its jobs, their attempts, and the machines. plan/ folds events into it, and every report reads
// it. It is changed in place, because a batch can have 100,000 jobs.

import type { Attempt } from "./attempt.js";
import type { DecisionKind } from "./decision.js";
import type { Job, JobId, Outcome } from "./job.js";
import type { MachineReason } from "./left-out.js";
import { type Life, newLife } from "./life.js";
import { SPOOL_FORMAT } from "./machine.js";

export interface BatchState {
  readonly jobs: Map<JobId, TrackedJob>;
  readonly machines: Map<string, MachineState>;
  /** The number of jobs in each phase. */
  readonly tally: Record<Phase, number>;
  /** Jobs that wait at the client, and for no other job. */
  readonly waiting: Set<JobId>;
  /** Jobs that wait at the client for other jobs. */
  readonly held: Set<JobId>;
  /** Jobs that no machine of this run can ever run, with the reason of each machine. They count as waiting. */
  readonly leftOut: Map<JobId, readonly MachineReason[]>;
  /** "drain": no new jobs begin. "stop": running jobs are stopped, too. */
  interrupted: "no" | "drain" | "stop";
  readonly life: Life;
}

/** A job with its fate and its attempts. */
export interface TrackedJob {
  job: Job;
  fate: Fate;
  /** Attempts that are not current and were not taken back before they began, oldest first. */
  earlier: readonly Attempt[];
  /** The number of the last attempt. */
  lastNumber: number;
  traits: Traits;
}

/** What few jobs have. All other jobs share one object, because a batch can have very many: it is replaced, not changed. */
export interface Traits {
  /** How often it was retried. */
  readonly retries: number;
  /** The machine of its last failed attempt, or one that had no room for it. Another machine is preferred. */
  readonly avoids: string | null;
  /** Its command is no longer the one that was started. */
  readonly isReplaced: boolean;
  /** Its command is no longer in the batch file: it never begins, but is followed to its end if it has begun. */
  readonly isGone: boolean;
  /**
   * The entry of job_results/ with its last collected files, for the next attempt; null if there is none or the job
   * succeeded.
   */
  readonly copy: string | null;
  /** A gone job that must be taken back from its machine before this job may start. */
  readonly after: JobId | null;
}

export const USUAL_TRAITS: Traits = {
  retries: 0,
  avoids: null,
  isReplaced: false,
  isGone: false,
  copy: null,
  after: null,
};

export type Fate =
  | { readonly kind: "waiting" }
  /** The current attempt, whose stage is the stage of the job. */
  | Attempt
  /** Results existed before this run. `outcome` is null if no record has the job's end. */
  | { readonly kind: "skipped"; readonly outcome: Outcome | null }
  /** Does not begin in this run: the user wants no new jobs, or no machine can take it. */
  | { readonly kind: "dropped" }
  /** A user stopped it before it began. It begins only if it is requested again. */
  | { readonly kind: "stopped" }
  /** A job that it comes after did not end as it needs. It waits again if that job runs again. */
  | { readonly kind: "blocked" }
  /** The same, because there was no failure that it was to begin after. */
  | { readonly kind: "unneeded" };

/** The phase of a job, for counting. */
export type Phase =
  | "waiting"
  | "running"
  /** Its results are not collected yet. */
  | "ended"
  | "succeeded"
  | "failed"
  | "stopped"
  | "lost"
  | "skipped"
  | "blocked"
  | "unneeded"
  /** Its machine was left out. */
  | "unknown";

export interface MachineState {
  readonly name: string;
  /** Its position in the user's list of machines. */
  readonly order: number;
  /** From a spool of an older format, waiting jobs are taken back, and no jobs are handed over to it. */
  readonly spoolFormat: number;
  phase: "new" | "connecting" | "ready" | "lost" | "finishing" | "done" | "failed";
  slots: number;
  /** The kinds of jobs that its slots accept. */
  kinds: ReadonlySet<string>;
  /** The kinds of jobs that it can never run, each with the reason. */
  short: ReadonlyMap<string, string>;
  /** It may get jobs. */
  isOpen: boolean;
  /** It gets no jobs because the first ones crashed on it, and would be open otherwise. */
  isSetAside: boolean;
  /** One of its slots has reported that it waits for room, and no job has started there since. */
  isFull: boolean;
  /** It got at least one job, so there is a spool to clean. */
  hasSpool: boolean;
  /** When the connection was last lost. */
  lostAt: number;
  /** It was unreachable for too long, and its waiting jobs went to other machines. */
  isGivenUp: boolean;
  /** When results were last collected from it. */
  collectedAt: number;
  /** Verbs in progress, at most one of each kind. */
  readonly busy: Set<DecisionKind>;
  /** Wanted attempts that are or may be on the machine, by job: at most one per job. */
  readonly attempts: Map<JobId, Attempt>;
  /** The same attempts by stage. Only plan/fold/attempt-lists.ts changes them. */
  readonly current: Record<CurrentStage, Set<Attempt>>;
  readonly overtaken: Record<OvertakenStage, Set<Attempt>>;
  /** Collected attempts that are still on the machine. */
  readonly toFree: Set<Attempt>;
  /** Collected attempts whose directories stay on the machine until their jobs succeed, by key. */
  readonly kept: Map<string, Attempt>;
  /** Collected attempts of which some paths are missing, by key. The machine is not cleaned while there are any. */
  readonly rests: Map<string, Attempt>;
  /** Keys of `rests` to request again. */
  readonly restsToTry: Set<string>;
  /** Collected jobs that are to be retried. */
  readonly toRetry: Set<JobId>;
  /** How many results cannot be collected from it. */
  stuck: number;
}

type CurrentStage = "assigned" | "sent" | "queued" | "running" | "ended";
/** "queued" also includes attempts that were only sent. */
type OvertakenStage = "queued" | "running" | "ended";

export function newTally(): Record<Phase, number> {
  const over = { succeeded: 0, failed: 0, stopped: 0, lost: 0, skipped: 0, blocked: 0, unneeded: 0 };
  return { waiting: 0, running: 0, ended: 0, unknown: 0, ...over };
}

/** The state before any event. */
export function emptyState(): BatchState {
  return {
    jobs: new Map(),
    machines: new Map(),
    tally: newTally(),
    waiting: new Set(),
    held: new Set(),
    leftOut: new Map(),
    interrupted: "no",
    life: newLife(),
  };
}

export function newMachine(name: string, order: number, spoolFormat = SPOOL_FORMAT): MachineState {
  const [a, s, q, r, e] = [newSet(), newSet(), newSet(), newSet(), newSet()];
  return {
    name,
    order,
    spoolFormat,
    phase: "new",
    slots: 0,
    kinds: new Set(),
    short: new Map(),
    isOpen: true,
    isSetAside: false,
    isFull: false,
    hasSpool: false,
    lostAt: 0,
    isGivenUp: false,
    collectedAt: Number.NEGATIVE_INFINITY,
    busy: new Set(),
    attempts: new Map(),
    current: { assigned: a, sent: s, queued: q, running: r, ended: e },
    overtaken: { queued: newSet(), running: newSet(), ended: newSet() },
    toFree: newSet(),
    kept: new Map(),
    rests: new Map(),
    restsToTry: new Set(),
    toRetry: new Set(),
    stuck: 0,
  };
}

function newSet(): Set<Attempt> {
  return new Set();
}
