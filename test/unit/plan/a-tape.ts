// Simulated runs for property tests: their sizes, and what happens when.

import fc from "fast-check";
import { aHaltRule } from "./a-halt-rule.js";

/** `hasGraph`: some jobs come after others. */
export function simulationFacts(most: { jobs: number; machines: number; canFail?: true; hasGraph?: true }) {
  return fc.record({
    graph: most.hasGraph ? aGraph : fc.constant([]),
    canFail: most.canFail ? fc.boolean() : fc.constant(false),
    jobs: fc.integer({ min: 1, max: most.jobs }),
    late: fc.integer({ min: 0, max: 3 }),
    slots: fc.array(fc.integer({ min: 1, max: 2 }), { minLength: 1, maxLength: most.machines }),
    isMixed: fc.boolean(),
    policy: fc.record({
      retries: fc.integer({ min: 0, max: 2 }),
      retriesFailures: fc.boolean(),
      reassignAfterMs: fc.option(fc.constantFrom(1000, 600_000)),
      halt: fc.option(aHaltRule, { freq: 8 }),
    }),
  });
}

const aGraph = fc.array(
  fc.array(
    fc.record({
      back: fc.integer({ min: 1, max: 4 }),
      when: fc.constantFrom("succeeded" as const, "ended" as const, "failed" as const),
    }),
    { maxLength: 3 },
  ),
  { minLength: 1, maxLength: 9 },
);

/** One number per choice. */
export class Tape {
  readonly #numbers: readonly number[];
  #at = 0;

  constructor(numbers: readonly number[]) {
    this.#numbers = numbers;
  }

  get isOver(): boolean {
    return this.#at >= this.#numbers.length;
  }

  readonly choose = (count: number): number =>
    (this.#numbers[this.#at++ % this.#numbers.length] ?? 0) % count;
}

export function aTape(maxLength: number): fc.Arbitrary<Tape> {
  const numbers = fc.array(fc.nat(9999), { minLength: 20, maxLength, size: "max" });
  return numbers.map((each) => new Tape(each));
}
