// Directories that stay on machines until their jobs succeed (--keep-dir): which exist, and on which machine a job
// resumes.

import type { Attempt, Stage } from "../model/attempt.js";
import type { MachineState, TrackedJob } from "../model/batch-state.js";
import { type JobId, type Outcome, succeeded } from "../model/job.js";
import { attemptsOf, outcomeAtHome } from "../model/standing.js";
import type { RunState } from "./run-state.js";

export function keepsDir({ keepsDirs }: RunState, { job }: TrackedJob): boolean {
  return job.keepsDir ?? keepsDirs;
}

/** True if the directory of an attempt with this outcome stays. */
export function isToKeep(state: RunState, tracked: TrackedJob, outcome: Outcome): boolean {
  if (!keepsDir(state, tracked) || tracked.traits.isGone || succeeded(outcome)) return false;
  const atHome = outcomeAtHome(tracked);
  return !atHome || !succeeded(atHome);
}

/** The job's attempts whose directories are on the machine, oldest first. */
export function keptOn(tracked: TrackedJob, machine: string): Attempt[] {
  return attemptsOf(tracked).filter((attempt) => attempt.machine === machine && isKept(attempt));
}

type CollectedAttempt = Attempt & { readonly stage: Extract<Stage, { kind: "collected" }> };

/** The last collected attempt that has begun. It had everything that earlier ones left. */
export function lastBegun(tracked: TrackedJob): CollectedAttempt | null {
  return attemptsOf(tracked).findLast(isCollectedRun) ?? null;
}

function isCollectedRun(attempt: Attempt): attempt is CollectedAttempt {
  return attempt.stage.kind === "collected" && attempt.stage.slot !== null;
}

/** The same attempt, or null if its directory is not kept. */
export function lastKept(tracked: TrackedJob): Attempt | null {
  const begun = lastBegun(tracked);
  return begun !== null && isKept(begun) ? begun : null;
}

function isKept({ stage }: Attempt): boolean {
  return stage.kind === "collected" && stage.isKept && stage.isThere;
}

/** The machine that has the job's directory and may get the job; null if no machine is better than the others. */
export function homeOf(state: RunState, tracked: TrackedJob): MachineState | null {
  // Nearly all jobs are new: they need no search.
  if (attemptsOf(tracked).length === 0) return null;
  const kept = lastKept(tracked);
  if (kept === null) return null;
  const machine = state.machines.get(kept.machine);
  return machine !== undefined && isExpected(machine) ? machine : null;
}

/** True if the machine is ready, or out of reach but not given up yet. */
function isExpected({ phase, isOpen, isGivenUp, slots }: MachineState): boolean {
  if (!isOpen || isGivenUp) return false;
  return phase === "ready" ? slots > 0 : phase === "new" || phase === "connecting" || phase === "lost";
}

/** True if the job waits on the machine that has its directory. Balancing does not move such a job. */
export function isAtHome({ jobs }: RunState, { name, kept, rests }: MachineState, id: JobId): boolean {
  if (kept.size + rests.size === 0) return false;
  const tracked = jobs.get(id);
  return tracked !== undefined && lastKept(tracked)?.machine === name;
}

/** True if only kept directories are left of the batch on the machine. */
export function hasOnlyKept({ kept, attempts, stuck, rests, toFree }: MachineState): boolean {
  return kept.size > 0 && attempts.size + stuck + rests.size + toFree.size === 0;
}
