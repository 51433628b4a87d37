// Which machine each waiting job goes to: always the one with the least work a slot, so that early jobs start
// early everywhere and whoever has run dry is served first.

import type { MachineState } from "../model/batch-state.js";
import type { JobId } from "../model/job.js";
import type { LoadHeap } from "./load-heap.js";

export interface DealRules {
  /** The machine a job should not go to again, if there is another. */
  readonly avoided: (id: JobId) => string | undefined;
  readonly isBarred: (machine: string, id: JobId) => boolean;
}

/** O(log m) a job. A job that no machine may have stays. */
export function dealJobs(
  jobs: Iterable<JobId>,
  ready: LoadHeap,
  { avoided, isBarred }: DealRules,
): Map<MachineState, JobId[]> {
  const hands = new Map<MachineState, JobId[]>();
  if (ready.size === 0) return hands;
  for (const id of jobs) {
    const machine = ready.takeSeat(avoided(id), (name) => isBarred(name, id));
    if (machine === null) continue;
    const hand = hands.get(machine);
    if (hand) hand.push(id);
    else hands.set(machine, [id]);
  }
  // Nothing has happened yet but in thought.
  for (const machine of hands.keys()) ready.put(machine);
  return hands;
}
