// Requests to a batch while a client follows it: from other clients of this computer, or from a service. Each throws
// UserError if it is not possible; its effects are in the events of the run.

import { UserError } from "../../errors.js";
import { LinkLost } from "../../fleet/link.js";
import type { MachineState } from "../../model/batch-state.js";
import type { JobId } from "../../model/job.js";
import { olderNames } from "../../model/machine.js";
import { outcomeAtHome } from "../../model/standing.js";
import { RemoteError } from "../../remote/engine/remote-error.js";
import type { FollowedRun } from "./followed-run.js";

/** Jobs among these that have not ended continue. */
export async function retryIn(run: FollowedRun, jobs: readonly JobId[]): Promise<void> {
  const { state } = run;
  if (state.interrupted !== "no") {
    throw new UserError("the batch starts no more jobs", {
      hint: "wait until it ends, then type this again",
    });
  }
  const over = jobs.filter((id) => isOver(run, id));
  if (over.length === 0) throw new UserError("none of these jobs has ended", { hint: "sshoal status" });
  if (mayTakeJobs(run)) run.reopen(over);
  else await run.runAgain(new Set(over));
}

/** It has ended, and its results are here. */
export function isOver({ state }: FollowedRun, id: JobId): boolean {
  const tracked = state.jobs.get(id);
  if (tracked === undefined || tracked.traits.isGone) return false;
  const { kind } = tracked.fate;
  return outcomeAtHome(tracked) !== undefined || kind === "dropped" || kind === "stopped";
}

/** Machines that have finished are not connected any more. */
function mayTakeJobs({ state }: FollowedRun): boolean {
  return [...state.machines.values()].some((machine) => machine.isOpen && !isOut(machine));
}

function isOut({ phase }: MachineState): boolean {
  return phase === "finishing" || phase === "done" || phase === "failed";
}

/** `machine` and its spool of an older version. */
export async function drainIn(run: FollowedRun, machine: string): Promise<void> {
  for (const each of machinesNamed(run, machine)) if (!isOut(each)) await setDraining(run, each, true);
}

export async function undrainIn(run: FollowedRun, machine: string): Promise<void> {
  const machines = machinesNamed(run, machine);
  if (machines.some(isOut)) return run.runAgain("none");
  for (const each of machines) await setDraining(run, each, false);
}

function machinesNamed({ state }: FollowedRun, name: string): MachineState[] {
  const found = [name, ...olderNames(name)].flatMap((each) => state.machines.get(each) ?? []);
  if (found.length > 0) return found;
  throw new UserError(`the batch has no machine ${name}`, { hint: "sshoal status shows where jobs are" });
}

async function setDraining(run: FollowedRun, { name }: MachineState, isDraining: boolean): Promise<void> {
  try {
    await run.setDraining(name, isDraining);
  } catch (error) {
    if (!(error instanceof LinkLost || error instanceof RemoteError)) throw error;
    const verb = isDraining ? "drain" : "undrain";
    throw new UserError(`${name} is unreachable: ${error.message}`, {
      hint: `sshoal ${verb} ${name}, later`,
    });
  }
}
