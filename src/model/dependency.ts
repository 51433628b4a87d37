// Jobs that come after other jobs: when a dependency is met, and when it can no longer be.

import type { BatchState, TrackedJob } from "./batch-state.js";
import { type Dependency, type JobId, type Outcome, succeeded, type Turnout } from "./job.js";
import { jobLabel } from "./job-label.js";
import { type JobWord, wordOf } from "./standing.js";

/** What one option of a job says. */
export interface AskedDependency {
  readonly when: Dependency["when"];
  /** Names and numbers of jobs, as typed. */
  readonly words: readonly string[];
  /** The place of the option: `train.sh:3`. */
  readonly where: string;
}

/** "unneeded": it was to begin after a failure, and there is none. "never": it cannot be met for another reason. */
export type Verdict = "open" | "met" | "never" | "unneeded";

/** A job counts once its results are on the local disk, or can never be, and it is not retried. */
export function turnoutOf({ fate }: TrackedJob): Turnout {
  switch (fate.kind) {
    case "waiting":
    case "dropped":
      return "open";
    case "skipped":
      return fate.outcome === null ? "succeeded" : turnoutAt(fate.outcome);
    case "stopped":
    case "blocked":
    case "unneeded":
      return fate.kind;
    case "tried": {
      const { stage } = fate;
      if (stage.kind === "unknown" || stage.kind === "stuck")
        return stage.kind === "stuck" ? turnoutAt(stage.outcome) : "unknown";
      return stage.kind === "collected" && !stage.isToRetry ? turnoutAt(stage.outcome) : "open";
    }
    default:
      return fate satisfies never;
  }
}

export function turnoutAt(outcome: Outcome): Turnout {
  if (outcome.kind === "stopped") return "stopped";
  return succeeded(outcome) ? "succeeded" : "failed";
}

/** `turnout`: undefined if the job is not known, as on a second computer, which knows only jobs that could begin. */
export function verdictOf(when: Dependency["when"], turnout: Turnout | undefined): Verdict {
  switch (turnout) {
    case undefined:
      return "met";
    case "open":
      return "open";
    case "unknown":
      return "never";
    case "succeeded":
      return when === "failed" ? "unneeded" : "met";
    case "failed":
      return when === "succeeded" ? "never" : "met";
    case "stopped":
    case "blocked":
      return when === "ended" ? "met" : "never";
    case "unneeded":
      return when === "ended" ? "met" : "unneeded";
    default:
      return turnout satisfies never;
  }
}

/** A dependency that is not met. */
export interface Obstacle {
  readonly tracked: TrackedJob;
  readonly when: Dependency["when"];
  readonly verdict: Exclude<Verdict, "met">;
}

const DECISIVE: Partial<Record<TrackedJob["fate"]["kind"], Verdict>> = {
  waiting: "open",
  dropped: "open",
  blocked: "never",
  unneeded: "unneeded",
};

/** The dependency that decides about a job that waits or is skipped; null: there is none. */
export function obstacleOf({ jobs }: Pick<BatchState, "jobs">, { job, fate }: TrackedJob): Obstacle | null {
  const wanted = DECISIVE[fate.kind];
  if (job.dependsOn === undefined || wanted === undefined) return null;
  for (const { job: id, when } of job.dependsOn) {
    const tracked = jobs.get(id);
    const verdict = verdictOf(when, tracked && turnoutOf(tracked));
    if (tracked !== undefined && verdict !== "met" && verdict === wanted) return { tracked, when, verdict };
  }
  return null;
}

/** A dependency that keeps a job from running, for people and programs. */
export interface DependencyFact {
  readonly job: JobId;
  readonly name: string;
  /** What people type for it. */
  readonly label: string;
  readonly line: number | null;
  readonly when: Dependency["when"];
  readonly state: JobWord;
  /** Where it runs or waits; null: on no machine. */
  readonly machine: string | null;
  /** The job that waited for it is skipped. */
  readonly isOver: boolean;
  /** It was to run only after a failure, and there is none. Absent: false. */
  readonly isUnneeded?: true;
}

/** Null: no other job keeps it from running. */
export function dependencyFact(state: Pick<BatchState, "jobs">, tracked: TrackedJob): DependencyFact | null {
  const obstacle = obstacleOf(state, tracked);
  if (obstacle === null) return null;
  const { when, verdict } = obstacle;
  const { job, fate } = obstacle.tracked;
  const machine = fate.kind === "tried" ? fate.machine : null;
  const about = { job: job.id, name: job.name, label: jobLabel(job), line: job.line };
  const isUnneeded = verdict === "unneeded";
  const how = { isOver: verdict !== "open", ...(isUnneeded && { isUnneeded }) };
  return { ...about, when, state: wordOf(obstacle.tracked), machine, ...how };
}
