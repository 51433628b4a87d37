// Directories that stay on their machines until their jobs succeed (--keep-dir): which there are, and where a job goes on.

import type { Attempt, Stage } from "../model/attempt.js";
import { type MachineState, outcomeAtHome, type TrackedJob } from "../model/batch-state.js";
import { type JobId, type Outcome, succeeded } from "../model/job.js";
import type { RunState } from "./run-state.js";

export function keepsDir({ keepsDirs }: RunState, { job }: TrackedJob): boolean {
  return job.keepsDir ?? keepsDirs;
}

/** Whether the directory of an attempt stays that ended like this. */
export function isToKeep(state: RunState, tracked: TrackedJob, outcome: Outcome): boolean {
  if (!keepsDir(state, tracked) || tracked.isGone || succeeded(outcome)) return false;
  const atHome = outcomeAtHome(tracked);
  return !atHome || !succeeded(atHome);
}

/** Attempts with something of the job on the machine, oldest first. */
export function keptOn({ attempts }: TrackedJob, machine: string): Attempt[] {
  return attempts.filter((attempt) => attempt.machine === machine && isKept(attempt));
}

type CollectedAttempt = Attempt & { readonly stage: Extract<Stage, { kind: "collected" }> };

/** Of the collected attempts: the last that has begun, and so had all that earlier ones left. */
export function lastBegun({ attempts }: TrackedJob): CollectedAttempt | null {
  const hasBegun = ({ stage }: Attempt) => stage.kind === "collected" && stage.slot !== null;
  return (attempts.findLast(hasBegun) as CollectedAttempt | undefined) ?? null;
}

/** The same, if its directory is kept. */
export function lastKept(tracked: TrackedJob): Attempt | null {
  const begun = lastBegun(tracked);
  return begun !== null && isKept(begun) ? begun : null;
}

function isKept({ stage }: Attempt): boolean {
  return stage.kind === "collected" && stage.isKept && stage.isThere;
}

/** The machine that has the job's directory and may be given the job; null: any other is as good. */
export function homeOf(state: RunState, tracked: TrackedJob): MachineState | null {
  const machine = state.machines.get(lastKept(tracked)?.machine ?? "");
  return machine !== undefined && isExpected(machine) ? machine : null;
}

/** Ready, or to be waited for: no longer than others wait for what a machine has that is out of reach. */
function isExpected({ phase, isOpen, isGivenUp, slots }: MachineState): boolean {
  if (!isOpen || isGivenUp) return false;
  return phase === "ready" ? slots > 0 : phase === "new" || phase === "connecting" || phase === "lost";
}

/** A job that waits on the machine that has its directory. It is not taken from there to balance the load. */
export function isAtHome({ jobs }: RunState, { name }: MachineState, id: JobId): boolean {
  const tracked = jobs.get(id);
  return tracked !== undefined && lastKept(tracked)?.machine === name;
}

/** All that is left of the batch on the machine is directories that stay. */
export function hasOnlyKept({ kept, attempts, stuck, rests, toFree }: MachineState): boolean {
  return kept.size > 0 && attempts.size + stuck + rests.size + toFree.size === 0;
}
