// Results of short jobs come home many at a time, since a trip costs more than such a job.

import type { MachineState } from "../model/batch-state.js";
import { countWaiting } from "./holdings.js";

const WORTH_A_TRIP = 200;
const BETWEEN_TRIPS_MS = 300;

/** Many results, or the last ones: no client waits for more to come with those. */
export function isWorthATrip(machine: MachineState): boolean {
  const { running, ended } = machine.current;
  return countWaiting(machine) + running.size === 0 || ended.size >= WORTH_A_TRIP;
}

/** Whether its results come home now. */
export function isToCollect(machine: MachineState, now: number): boolean {
  return isWorthATrip(machine) || isRested(machine.collectedAt, now);
}

function isRested(collectedAt: number, now: number): boolean {
  return now - collectedAt >= BETWEEN_TRIPS_MS;
}

interface Waiting {
  readonly machine: MachineState;
  /** When its last trip was. */
  readonly collectedAt: number;
}

/** The machines whose few results wait for the next trip. */
export class Gathering {
  /** Sorted by their last trips: the first has waited long enough before the others. */
  readonly #waiting: Waiting[] = [];
  readonly #waitingOf = new Map<MachineState, Waiting>();

  /** O(log m) when it is new or has made a trip, apart from moving the others up, else O(1). */
  put(machine: MachineState): void {
    const { collectedAt } = machine;
    if (this.#waitingOf.get(machine)?.collectedAt === collectedAt) return;
    this.remove(machine);
    const waiting = { machine, collectedAt };
    this.#waiting.splice(this.#placeOf(collectedAt), 0, waiting);
    this.#waitingOf.set(machine, waiting);
  }

  remove(machine: MachineState): void {
    const waiting = this.#waitingOf.get(machine);
    if (waiting === undefined) return;
    this.#waitingOf.delete(machine);
    this.#waiting.splice(this.#waiting.indexOf(waiting, this.#placeOf(waiting.collectedAt)), 1);
  }

  /** Those that have waited long enough. */
  *gathered(now: number): Iterable<MachineState> {
    for (const { machine, collectedAt } of this.#waiting) {
      if (!isRested(collectedAt, now)) return;
      yield machine;
    }
  }

  /** Behind all whose last trip was earlier. */
  #placeOf(collectedAt: number): number {
    let [from, to] = [0, this.#waiting.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      if ((this.#waiting[middle] as Waiting).collectedAt < collectedAt) from = middle + 1;
      else to = middle;
    }
    return from;
  }
}
