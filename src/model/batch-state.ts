// What is known of a batch: its jobs, their attempts, and the machines. Events are folded into it in plan/; everything
// that is shown is read from it. It is changed in place, since a batch may have 100,000 jobs.

import { type Attempt, isUnbegun, type Stage } from "./attempt.js";
import type { DecisionKind } from "./decision.js";
import type { Job, JobId, Outcome } from "./job.js";
import { type Life, newLife } from "./life.js";
import { SPOOL_FORMAT } from "./machine.js";

export interface BatchState {
  readonly jobs: Map<JobId, TrackedJob>;
  readonly machines: Map<string, MachineState>;
  /** How many jobs are in each phase. */
  readonly tally: Record<Phase, number>;
  /** Jobs with this computer. */
  readonly waiting: Set<JobId>;
  /** The user wants no new jobs ("drain"), nor those that run ("stop"). */
  interrupted: "no" | "drain" | "stop";
  readonly life: Life;
}

/** A job, and what has become of it. */
export interface TrackedJob {
  job: Job;
  fate: Fate;
  /** Every attempt that was not taken back before it began, oldest first. */
  attempts: readonly Attempt[];
  /** The number that was last given to an attempt. */
  lastNumber: number;
  /** How often it was tried again. */
  retries: number;
  /** The machine it was last tried on in vain: another one is the better choice. */
  avoids: string | null;
  /** It is another command now than what was begun of it. */
  isReplaced: boolean;
  /** The batch file has its command no more: it is followed to its end if it has begun, and never begins. */
  isGone: boolean;
  /** In job_results/: what was last collected of it, for the next attempt; null: nothing, or it succeeded. */
  copy: string | null;
  /** It does not start before this job, which is gone, was taken back from its machine. */
  after: JobId | null;
}

export type Fate =
  | { readonly kind: "waiting" }
  /** Its current attempt says how far it is. */
  | Attempt
  /** Results were there before this run; `outcome` is null when no record says how the job ended. */
  | { readonly kind: "skipped"; readonly outcome: Outcome | null }
  /** It does not begin in this run: the user wanted no new jobs, or no machine can take it. */
  | { readonly kind: "dropped" }
  /** A user stopped it before it began: it begins only when it is asked for again. */
  | { readonly kind: "stopped" };

/** Where a job stands, for counting. */
export type Phase =
  | "waiting"
  | "running"
  /** Its results are not here yet. */
  | "ended"
  | "succeeded"
  | "failed"
  | "stopped"
  | "lost"
  | "skipped"
  /** Its machine was left out. */
  | "unknown";

export interface MachineState {
  readonly name: string;
  /** Its place among the machines, as they were named. */
  readonly order: number;
  /** Of an older one, what has not begun is taken back, and nothing is handed over. */
  readonly spoolFormat: number;
  phase: "new" | "connecting" | "ready" | "lost" | "finishing" | "done" | "failed";
  slots: number;
  /** Which kinds of jobs these slots are for. */
  kinds: ReadonlySet<string>;
  /** It may be given jobs. */
  isOpen: boolean;
  /** At least one job went there: there is a spool to clean. */
  hasSpool: boolean;
  /** When the link was lost last. */
  lostAt: number;
  /** It was away too long, and its waiting jobs went to others. */
  isGivenUp: boolean;
  /** When results were last brought home from there. */
  collectedAt: number;
  /** Verbs under way; one of each kind at a time. */
  readonly busy: Set<DecisionKind>;
  /** The attempts that are there or may be, and are still wanted, by job: at most one of each. */
  readonly attempts: Map<JobId, Attempt>;
  /** The same, by stage. Only plan/attempts.ts changes them. */
  readonly current: Record<CurrentStage, Set<Attempt>>;
  readonly overtaken: Record<OvertakenStage, Set<Attempt>>;
  /** Attempts whose results are here, and on the machine as well, by key. */
  readonly toFree: Map<string, Attempt>;
  /** Attempts whose results are here, and whose directories stay there until their jobs succeed, by key. */
  readonly kept: Map<string, Attempt>;
  /** Attempts whose results are here but for what is missing, by key. Nothing is cleaned while there are any. */
  readonly rests: Map<string, Attempt>;
  /** Of those: keys to ask for again. */
  readonly restsToTry: Set<string>;
  /** Jobs whose results are here, and that are to be tried again. */
  readonly toRetry: Set<JobId>;
  /** How many results cannot be taken from there. */
  stuck: number;
}

type CurrentStage = "assigned" | "sent" | "queued" | "running" | "ended";
/** Queued: also what was only sent. */
type OvertakenStage = "queued" | "running" | "ended";

export function newTally(): Record<Phase, number> {
  const over = { succeeded: 0, failed: 0, stopped: 0, lost: 0, skipped: 0 };
  return { waiting: 0, running: 0, ended: 0, unknown: 0, ...over };
}

/** Of a batch of which nothing is known. */
export function emptyState(): BatchState {
  return {
    jobs: new Map(),
    machines: new Map(),
    tally: newTally(),
    waiting: new Set(),
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
    isOpen: true,
    hasSpool: false,
    lostAt: 0,
    isGivenUp: false,
    collectedAt: Number.NEGATIVE_INFINITY,
    busy: new Set(),
    attempts: new Map(),
    current: { assigned: a, sent: s, queued: q, running: r, ended: e },
    overtaken: { queued: newSet(), running: newSet(), ended: newSet() },
    toFree: new Map(),
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

/** A fate, or the stage of the current attempt with where it is. */
export type Standing =
  | Exclude<Fate, Attempt>
  | ({ readonly machine: string; readonly attempt: Attempt } & Stage);

export function standingOf({ fate }: TrackedJob): Standing {
  if (fate.kind !== "tried") return fate;
  return { machine: fate.machine, attempt: fate, ...fate.stage };
}

/** Its results are here: how it ended, or null where no record says so. Undefined: they are not. */
export function outcomeAtHome({ fate }: TrackedJob): Outcome | null | undefined {
  if (fate.kind === "skipped") return fate.outcome;
  if (fate.kind !== "tried" || fate.stage.kind !== "collected") return undefined;
  return fate.stage.outcome;
}

/** How often the job has begun, as far as is known. */
export function runsOf({ attempts }: TrackedJob): number {
  let most = 0;
  for (const { run } of attempts) if (run !== null && run > most) most = run;
  return most;
}

export function phaseOf({ fate }: TrackedJob): Phase {
  if (fate.kind === "dropped") return "waiting";
  return fate.kind === "tried" ? phaseAt(fate.stage) : fate.kind;
}

/** Of a job whose current attempt is at this stage. */
export function phaseAt(stage: Stage): Phase {
  switch (stage.kind) {
    case "running":
    case "ended":
    case "unknown":
      return stage.kind;
    case "stuck":
      return "ended";
    case "collected":
      return endingOf(stage.outcome);
    case "assigned":
    case "sent":
    case "queued":
      return "waiting";
    default:
      return stage satisfies never;
  }
}

type EndPhase = "succeeded" | "failed" | "stopped" | "lost";

/** The word for an outcome. */
export function endingOf(outcome: Outcome): EndPhase {
  switch (outcome.kind) {
    case "stopped":
    case "lost":
      return outcome.kind;
    case "exited":
      return outcome.code === 0 ? "succeeded" : "failed";
    case "killed":
    case "timed-out":
      return "failed";
    default:
      return outcome satisfies never;
  }
}

/** The words for a job's state, in every place that shows one, and in the order in which they are counted up. */
export const JOB_WORDS = ["succeeded", "failed", "stopped", "lost", "skipped", "running", "waiting"] as const;
export type JobWord = (typeof JOB_WORDS)[number];

export function wordOf(tracked: TrackedJob): JobWord {
  const { fate } = tracked;
  if (fate.kind === "skipped") return fate.outcome === null ? "skipped" : endingOf(fate.outcome);
  if (fate.kind === "tried" && "outcome" in fate.stage) return endingOf(fate.stage.outcome);
  const phase = phaseOf(tracked);
  return phase === "running" || phase === "waiting" || phase === "stopped" ? phase : "lost";
}

/** It waits or runs, as far as is known. */
export function isStoppable({ fate }: TrackedJob): boolean {
  if (fate.kind !== "tried") return fate.kind === "waiting" || fate.kind === "dropped";
  return isUnbegun(fate) || fate.stage.kind === "running";
}

/** The current attempt, or the last one that began. */
export function lastAttempt({ fate, attempts }: TrackedJob): Attempt | null {
  if (fate.kind === "tried") return fate;
  return fate.kind === "skipped" ? (attempts.findLast(({ run }) => run !== null) ?? null) : null;
}
