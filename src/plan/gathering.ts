// Collects results of short jobs in groups, because one collection costs more than a short job.

import type { MachineState } from "../model/batch-state.js";
import { countWaiting } from "./holdings.js";
import { MachineHeap } from "./machine-heap.js";

const WORTH_A_TRIP = 200;
const BETWEEN_TRIPS_MS = 300;

/** True if there are many results, or if no further job of the machine could join this collection. */
export function isWorthATrip(machine: MachineState): boolean {
  const { running, ended } = machine.current;
  return countWaiting(machine) + running.size === 0 || ended.size >= WORTH_A_TRIP;
}

/** True if its results are collected now. */
export function isToCollect(machine: MachineState, now: number): boolean {
  return isWorthATrip(machine) || isRested(machine.collectedAt, now);
}

/** True if the last collection was some time ago. */
export function isRested(collectedAt: number, now: number): boolean {
  return collectedAt <= now - BETWEEN_TRIPS_MS;
}

/** The machines of which the next step waits for some time after their last collection. */
export class Gathering {
  /** The key is the time of the last collection. */
  readonly #heap = new MachineHeap();

  /** O(log m) for a new machine or after a collection; otherwise O(1). */
  put(machine: MachineState): void {
    const seat = this.#heap.of(machine);
    if (seat === undefined) this.#heap.add({ machine, key: machine.collectedAt, at: 0 });
    else this.#heap.move(seat, machine.collectedAt);
  }

  remove(machine: MachineState): void {
    const seat = this.#heap.of(machine);
    if (seat !== undefined) this.#heap.remove(seat);
  }

  /** The machines that have waited long enough, in no order. */
  gathered(now: number): MachineState[] {
    return this.#heap.upTo(now - BETWEEN_TRIPS_MS).map(({ machine }) => machine);
  }
}
