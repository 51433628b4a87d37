// Which machine each waiting job goes to: always the one with the least work a slot, so that early lines start
// early everywhere and whoever has run dry is served first.

import type { MachineState } from "../model/batch-state.js";
import type { LoadHeap } from "./load-heap.js";

export interface DealRules {
  /** The machine a line should not go to again, if there is another. */
  readonly avoided: (line: number) => string | undefined;
  readonly isBarred: (machine: string, line: number) => boolean;
}

/** O(log m) a line. A line that no machine may have stays. */
export function dealJobs(
  lines: Iterable<number>,
  ready: LoadHeap,
  { avoided, isBarred }: DealRules,
): Map<MachineState, number[]> {
  const hands = new Map<MachineState, number[]>();
  if (ready.size === 0) return hands;
  for (const line of lines) {
    const machine = ready.takeSeat(avoided(line), (name) => isBarred(name, line));
    if (machine === null) continue;
    const hand = hands.get(machine);
    if (hand) hand.push(line);
    else hands.set(machine, [line]);
  }
  // Nothing has happened yet but in thought.
  for (const machine of hands.keys()) ready.put(machine);
  return hands;
}
