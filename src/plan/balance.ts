// While the client is connected: waiting jobs of machines that are behind are taken back for those that have run dry.

import type { Decision } from "../model/decision.js";
import { startsNothing } from "./halt.js";
import { countWaiting, idsOf } from "./holdings.js";
import { isAtHome } from "./kept-dirs.js";
import type { RunState } from "./run-state.js";
import { servedBy } from "./served.js";

/** What is taken back and given to another is begun there no sooner: meanwhile the first machine may be through. */
const DRY_MS = 300;

/** Each machine is brought down to the same work per slot, but only once a machine has nothing left to do. */
export function rebalance(state: RunState, now: number): Decision[] {
  const { waiting, stock } = state;
  const { total, dry, movable, dryAt } = stock;
  if (dryAt === null || now - dryAt < DRY_MS || movable.size === 0) return [];
  if (waiting.size > 0 || startsNothing(state)) return [];
  const share = total.jobs / total.slots;
  const decisions: Decision[] = [];
  const inOrder = [...movable].sort((one, other) => one.order - other.order);
  for (const machine of inOrder) {
    const { name, slots: own, current } = machine;
    const surplus = Math.floor(countWaiting(machine) + current.running.size - Math.max(own, share * own));
    if (surplus <= 0) continue;
    // The last ones: the first are about to begin.
    const movableJobs = idsOf([current.queued]).filter((id) => !isAtHome(state, machine, id));
    const jobs = [...servedBy(state, dry, movableJobs)].slice(-surplus);
    if (jobs.length > 0) decisions.push({ kind: "take-back", machine: name, jobs });
  }
  return decisions;
}
