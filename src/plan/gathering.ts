// Collects results of short jobs in groups, because one collection costs more than a short job.

import type { MachineState } from "../model/batch-state.js";
import { countWaiting } from "./holdings.js";

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
  return now - collectedAt >= BETWEEN_TRIPS_MS;
}

interface Waiting {
  readonly machine: MachineState;
  /** When results were last collected from the machine. */
  readonly collectedAt: number;
}

/** The machines that have only a few results, which wait for the next collection. */
export class Gathering {
  /** Sorted by last collection, the earliest first, then in the order of the machines. */
  readonly #waiting: Waiting[] = [];
  readonly #waitingOf = new Map<MachineState, Waiting>();

  /** O(log m) for a new machine or after a collection, without the cost of `splice`; otherwise O(1). */
  put(machine: MachineState): void {
    const { collectedAt } = machine;
    if (this.#waitingOf.get(machine)?.collectedAt === collectedAt) return;
    this.remove(machine);
    const waiting = { machine, collectedAt };
    this.#waiting.splice(this.#placeOf(waiting), 0, waiting);
    this.#waitingOf.set(machine, waiting);
  }

  remove(machine: MachineState): void {
    const waiting = this.#waitingOf.get(machine);
    if (waiting === undefined) return;
    this.#waitingOf.delete(machine);
    this.#waiting.splice(this.#placeOf(waiting), 1);
  }

  /** The machines that have waited long enough. */
  gathered(now: number): MachineState[] {
    const rested: MachineState[] = [];
    for (const { machine, collectedAt } of this.#waiting) {
      if (!isRested(collectedAt, now)) break;
      rested.push(machine);
    }
    return rested;
  }

  /** The index of the machine, or the index where it belongs. */
  #placeOf(waiting: Waiting): number {
    let [from, to] = [0, this.#waiting.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      if (isBefore(this.#waiting[middle] as Waiting, waiting)) from = middle + 1;
      else to = middle;
    }
    return from;
  }
}

function isBefore(one: Waiting, other: Waiting): boolean {
  return one.collectedAt === other.collectedAt
    ? one.machine.order < other.machine.order
    : one.collectedAt < other.collectedAt;
}
