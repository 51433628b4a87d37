// While the client is connected, takes waiting jobs back from slow machines and gives them to machines that have no
// work left.

import type { MachineState } from "../model/batch-state.js";
import type { Decision } from "../model/decision.js";
import type { JobId } from "../model/job.js";
import { startsNothing } from "./halt.js";
import { countWaiting, idleSlots, idsOf } from "./holdings.js";
import { isAtHome } from "./kept-dirs.js";
import type { RunState } from "./run-state.js";
import { servedBy } from "./served.js";

/**
 * How long a machine is without work before it gets jobs of others. Moving takes time, in which the first machine may
 * finish.
 */
const DRY_MS = 300;

/**
 * Brings each machine down to the same work per slot, but only once some machine has nothing left to do. Jobs that wait
 * for room go to idle slots elsewhere, each once.
 */
export function rebalance(state: RunState, now: number): Decision[] {
  const { waiting, stock } = state;
  const { total, dry, movable, dryAt } = stock;
  if (dryAt === null || now - dryAt < DRY_MS || movable.size === 0) return [];
  if (waiting.size > 0 || startsNothing(state)) return [];
  const share = total.jobs / total.slots;
  const idle = idleSlots(dry);
  const decisions: Decision[] = [];
  const behind: MachineState[] = [];
  for (const machine of movable) if (surplusOf(machine, share, idle) > 0) behind.push(machine);
  for (const machine of behind.sort((one, other) => one.order - other.order)) {
    const movableJobs = idsOf([machine.current.queued]).filter((id) => canMove(state, machine, id));
    // Takes the last jobs, because the first ones are about to begin.
    const jobs = [...servedBy(state, dry, movableJobs)].slice(-surplusOf(machine, share, idle));
    if (jobs.length > 0) decisions.push({ kind: "take-back", machine: machine.name, jobs });
  }
  return decisions;
}

/** A job that already left a full machine stays, so that it does not move between two full ones for ever. */
function canMove(state: RunState, machine: MachineState, id: JobId): boolean {
  if (isAtHome(state, machine, id)) return false;
  return !machine.isFull || state.jobs.get(id)?.traits.avoids === null;
}

/** How many jobs the machine has beyond its share, which is at least one per slot. A full machine keeps none for its idle slots. */
function surplusOf(machine: MachineState, share: number, idle: number): number {
  const { slots, current, isFull } = machine;
  const waiting = countWaiting(machine);
  const beyond = Math.floor(waiting + current.running.size - slots * Math.max(1, share));
  return isFull ? Math.max(beyond, Math.min(waiting, idle)) : beyond;
}
