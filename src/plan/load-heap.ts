// A heap of the machines that can get jobs, the least loaded first, then in the order of their names on the command
// line. O(log m) per step.

import type { MachineState } from "../model/batch-state.js";
import { countWaiting } from "./holdings.js";

interface Seat {
  readonly machine: MachineState;
  jobs: number;
  slots: number;
  /** The index in the heap. */
  at: number;
}

export class LoadHeap {
  readonly #seats: Seat[] = [];
  readonly #seatOf = new Map<MachineState, Seat>();

  get size(): number {
    return this.#seats.length;
  }

  /** Inserts the machine, or updates its load. */
  put(machine: MachineState): void {
    let seat = this.#seatOf.get(machine);
    if (seat === undefined) {
      seat = { machine, jobs: 0, slots: 0, at: this.#seats.length };
      this.#seatOf.set(machine, seat);
      this.#seats.push(seat);
    }
    seat.jobs = countWaiting(machine) + machine.current.running.size;
    seat.slots = machine.slots;
    this.#settle(seat);
  }

  remove(machine: MachineState): void {
    const seat = this.#seatOf.get(machine);
    if (seat === undefined) return;
    this.#seatOf.delete(machine);
    this.#take(seat);
  }

  has(machine: MachineState): boolean {
    return this.#seatOf.has(machine);
  }

  /** Counts one more job for this machine until its next `put`; returns null if it is not in the heap. */
  takeSeatOf(machine: MachineState): MachineState | null {
    const seat = this.#seatOf.get(machine);
    if (seat === undefined) return null;
    seat.jobs++;
    this.#settle(seat);
    return machine;
  }

  /** Counts one more job for the least loaded machine until its next `put`; returns null if no machine may have it. */
  takeSeat(avoided: string | null, isBarred: (machine: MachineState) => boolean): MachineState | null {
    const seen: Seat[] = [];
    let chosen: Seat | undefined;
    for (let seat = this.#seats[0]; seat !== undefined; seat = this.#seats[0]) {
      const { name } = seat.machine;
      const isFree = !isBarred(seat.machine);
      if (isFree && (chosen === undefined || chosen.machine.name === avoided)) chosen = seat;
      if (isFree && name !== avoided) break;
      this.#take(seat);
      seen.push(seat);
    }
    for (const seat of seen) this.#add(seat);
    if (chosen === undefined) return null;
    chosen.jobs++;
    this.#settle(chosen);
    return chosen.machine;
  }

  #add(seat: Seat): void {
    seat.at = this.#seats.length;
    this.#seats.push(seat);
    this.#settle(seat);
  }

  #take(seat: Seat): void {
    const last = this.#seats.pop();
    if (last === undefined || last === seat) return;
    this.#place(last, seat.at);
    this.#settle(last);
  }

  /** Moves the seat up or down to its place. */
  #settle(seat: Seat): void {
    for (let up = this.#above(seat); up !== undefined && isBefore(seat, up); up = this.#above(seat))
      this.#swap(seat, up);
    for (let down = this.#below(seat); down !== undefined && isBefore(down, seat); down = this.#below(seat))
      this.#swap(seat, down);
  }

  #above({ at }: Seat): Seat | undefined {
    return at === 0 ? undefined : this.#seats[(at - 1) >> 1];
  }

  #below({ at }: Seat): Seat | undefined {
    const left = this.#seats[2 * at + 1];
    const right = this.#seats[2 * at + 2];
    return left !== undefined && right !== undefined && isBefore(right, left) ? right : left;
  }

  #swap(one: Seat, other: Seat): void {
    const { at } = one;
    this.#place(one, other.at);
    this.#place(other, at);
  }

  #place(seat: Seat, at: number): void {
    seat.at = at;
    this.#seats[at] = seat;
  }
}

function isBefore(one: Seat, other: Seat): boolean {
  const difference = one.jobs / one.slots - other.jobs / other.slots;
  return difference === 0 ? one.machine.order < other.machine.order : difference < 0;
}
