// Which machine each waiting job goes to: always the one with the least work a slot, so that early lines start
// early everywhere and whoever has run dry is served first.

import type { MachineState } from "./machine-state.js";

export interface DealRules {
  /** The machine a line should not go to again, if there is another. */
  readonly avoided: (line: number) => string | undefined;
  readonly isBarred: (machine: string, line: number) => boolean;
}

/** O(log m) a line. A line that no machine may have stays. */
export function dealJobs(
  lines: Iterable<number>,
  machines: readonly MachineState[],
  { avoided, isBarred }: DealRules,
): Map<string, number[]> {
  const hands = new Map<string, number[]>();
  const heap = new LoadHeap(machines.filter(({ slots }) => slots > 0));
  if (heap.isEmpty) return hands;
  for (const line of lines) {
    const name = heap.takeSeat(avoided(line), (machine) => isBarred(machine, line));
    if (name === null) continue;
    const hand = hands.get(name);
    if (hand) hand.push(line);
    else hands.set(name, [line]);
  }
  return hands;
}

interface Seat {
  readonly name: string;
  readonly slots: number;
  readonly order: number;
  jobs: number;
}

/** A binary heap of machines, the least loaded on top; equals in the order they were named. */
class LoadHeap {
  readonly #seats: Seat[] = [];

  constructor(machines: readonly MachineState[]) {
    machines.forEach(({ name, slots, queued, running }, order) => {
      this.#push({ name, slots, order, jobs: queued.size + running.size });
    });
  }

  get isEmpty(): boolean {
    return this.#seats.length === 0;
  }

  takeSeat(avoided: string | undefined, isBarred: (machine: string) => boolean): string | null {
    const seen: Seat[] = [];
    let chosen: Seat | undefined;
    for (let seat = this.#pop(); seat !== undefined; seat = this.#pop()) {
      seen.push(seat);
      if (isBarred(seat.name)) continue;
      if (chosen === undefined || chosen.name === avoided) chosen = seat;
      if (chosen.name !== avoided) break;
    }
    if (chosen !== undefined) chosen.jobs++;
    for (const seat of seen) this.#push(seat);
    return chosen?.name ?? null;
  }

  #push(seat: Seat): void {
    const seats = this.#seats;
    let at = seats.push(seat) - 1;
    for (let up = (at - 1) >> 1; at > 0 && this.#isBefore(at, up); at = up, up = (at - 1) >> 1)
      this.#swap(at, up);
  }

  #pop(): Seat | undefined {
    const seats = this.#seats;
    this.#swap(0, seats.length - 1);
    const top = seats.pop();
    for (let at = 0; ; ) {
      let least = at;
      for (const child of [2 * at + 1, 2 * at + 2])
        if (child < seats.length && this.#isBefore(child, least)) least = child;
      if (least === at) return top;
      this.#swap(at, least);
      at = least;
    }
  }

  #isBefore(a: number, b: number): boolean {
    const [one, other] = [this.#seats[a], this.#seats[b]];
    if (one === undefined || other === undefined) return false;
    const difference = one.jobs / one.slots - other.jobs / other.slots;
    return difference === 0 ? one.order < other.order : difference < 0;
  }

  #swap(a: number, b: number): void {
    const [one, other] = [this.#seats[a], this.#seats[b]];
    if (one === undefined || other === undefined || a === b) return;
    this.#seats[a] = other;
    this.#seats[b] = one;
  }
}
