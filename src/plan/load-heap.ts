// The machines that can get jobs, the least loaded first. O(log m) per step.

import type { MachineState } from "../model/batch-state.js";
import { countWaiting } from "./holdings.js";
import { MachineHeap, type Seat } from "./machine-heap.js";

/** The key is the number of jobs per slot. */
interface LoadedSeat extends Seat {
  jobs: number;
}

export class LoadHeap {
  readonly #heap = new MachineHeap<LoadedSeat>();

  get size(): number {
    return this.#heap.size;
  }

  /** Inserts the machine, or updates its load. */
  put(machine: MachineState): void {
    const jobs = countWaiting(machine) + machine.current.running.size;
    const key = jobs / machine.slots;
    const seat = this.#heap.of(machine);
    if (seat === undefined) return this.#heap.add({ machine, key, at: 0, jobs });
    seat.jobs = jobs;
    this.#heap.move(seat, key);
  }

  remove(machine: MachineState): void {
    const seat = this.#heap.of(machine);
    if (seat !== undefined) this.#heap.remove(seat);
  }

  has(machine: MachineState): boolean {
    return this.#heap.of(machine) !== undefined;
  }

  /** Counts one more job for this machine until its next `put`; returns null if it is not in the heap. */
  takeSeatOf(machine: MachineState): MachineState | null {
    const seat = this.#heap.of(machine);
    return seat === undefined ? null : this.#take(seat);
  }

  /** Counts one more job for the least loaded machine until its next `put`; returns null if no machine may have it. */
  takeSeat(avoided: string | null, isBarred: (machine: MachineState) => boolean): MachineState | null {
    const seen: LoadedSeat[] = [];
    let chosen: LoadedSeat | undefined;
    for (let seat = this.#heap.first; seat !== undefined; seat = this.#heap.first) {
      const { name } = seat.machine;
      const isFree = !isBarred(seat.machine);
      if (isFree && (chosen === undefined || chosen.machine.name === avoided)) chosen = seat;
      if (isFree && name !== avoided) break;
      this.#heap.remove(seat);
      seen.push(seat);
    }
    for (const seat of seen) this.#heap.add(seat);
    return chosen === undefined ? null : this.#take(chosen);
  }

  #take(seat: LoadedSeat): MachineState {
    seat.jobs++;
    this.#heap.move(seat, seat.jobs / seat.machine.slots);
    return seat.machine;
  }
}
