// While the client is connected: waiting jobs of machines that are behind are taken back for those that have run dry.

import type { JobId } from "../model/job.js";
import { countWaiting, idsOf } from "./holdings.js";
import type { Stock } from "./stock.js";

export interface TakeBack {
  readonly machine: string;
  readonly jobs: readonly JobId[];
}

/**
 * Everybody is brought down to the same work a slot, but only once a machine has nothing left to do. `pickMovable`: those
 * that a machine that has run dry could take.
 */
export function balance(
  { total, dry, movable }: Stock,
  pickMovable: (jobs: Iterable<JobId>) => Iterable<JobId>,
): TakeBack[] {
  if (dry.size === 0 || movable.size === 0) return [];
  const share = total.jobs / total.slots;
  const orders: TakeBack[] = [];
  const inOrder = [...movable].sort((one, other) => one.order - other.order);
  for (const machine of inOrder) {
    const { name, slots: own, current } = machine;
    const surplus = Math.floor(countWaiting(machine) + current.running.size - Math.max(own, share * own));
    if (surplus <= 0) continue;
    // The last ones: the first are about to begin.
    const jobs = [...pickMovable(idsOf(current.queued))].slice(-surplus);
    if (jobs.length > 0) orders.push({ machine: name, jobs });
  }
  return orders;
}
