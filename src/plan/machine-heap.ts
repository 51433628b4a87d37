// A heap of machines by a number that their owner chooses: the smallest first, then in the order of their names on the
// command line. O(log m) per step.

import type { MachineState } from "../model/batch-state.js";

export interface Seat {
  readonly machine: MachineState;
  key: number;
  /** The index in the heap. */
  at: number;
}

export class MachineHeap<S extends Seat = Seat> {
  readonly #seats: S[] = [];
  /** By the order of the machines, because that costs less than a map. */
  readonly #seatOf: (S | undefined)[] = [];

  get size(): number {
    return this.#seats.length;
  }

  get first(): S | undefined {
    return this.#seats[0];
  }

  of({ order }: MachineState): S | undefined {
    return this.#seatOf[order];
  }

  add(seat: S): void {
    this.#seatOf[seat.machine.order] = seat;
    seat.at = this.#seats.length;
    this.#seats.push(seat);
    this.#settle(seat);
  }

  remove(seat: S): void {
    this.#seatOf[seat.machine.order] = undefined;
    const last = this.#seats.pop();
    if (last === undefined || last === seat) return;
    this.#place(last, seat.at);
    this.#settle(last);
  }

  /** Most changes of a machine do not change its key. */
  move(seat: S, key: number): void {
    if (seat.key === key) return;
    seat.key = key;
    this.#settle(seat);
  }

  /** The seats with at most this key, in no order. Does not look at more than two others per seat that it returns. */
  upTo(key: number): S[] {
    const found: S[] = [];
    this.#addUpTo(key, 0, found);
    for (const { at } of found) {
      this.#addUpTo(key, 2 * at + 1, found);
      this.#addUpTo(key, 2 * at + 2, found);
    }
    return found;
  }

  #addUpTo(key: number, at: number, found: S[]): void {
    const seat = this.#seats[at];
    if (seat !== undefined && seat.key <= key) found.push(seat);
  }

  /** Moves the seat up or down to its place. */
  #settle(seat: S): void {
    for (let up = this.#above(seat); up !== undefined && isBefore(seat, up); up = this.#above(seat))
      this.#swap(seat, up);
    for (let down = this.#below(seat); down !== undefined && isBefore(down, seat); down = this.#below(seat))
      this.#swap(seat, down);
  }

  #above({ at }: S): S | undefined {
    return at === 0 ? undefined : this.#seats[(at - 1) >> 1];
  }

  #below({ at }: S): S | undefined {
    const left = this.#seats[2 * at + 1];
    const right = this.#seats[2 * at + 2];
    return left !== undefined && right !== undefined && isBefore(right, left) ? right : left;
  }

  #swap(one: S, other: S): void {
    const { at } = one;
    this.#place(one, other.at);
    this.#place(other, at);
  }

  #place(seat: S, at: number): void {
    seat.at = at;
    this.#seats[at] = seat;
  }
}

function isBefore(one: Seat, other: Seat): boolean {
  return one.key === other.key ? one.machine.order < other.machine.order : one.key < other.key;
}
