import fc from "fast-check";
import { expect, test } from "vitest";
import { decide, isOver } from "../../../src/plan/decide.js";
import { newStock, takeStock } from "../../../src/plan/stock.js";
import { aHaltRule } from "./a-halt-rule.js";
import { Simulation } from "./simulated-run.js";

const facts = fc.record({
  jobs: fc.integer({ min: 1, max: 12 }),
  late: fc.integer({ min: 0, max: 3 }),
  slots: fc.array(fc.integer({ min: 1, max: 2 }), { minLength: 1, maxLength: 4 }),
  isMixed: fc.boolean(),
  policy: fc.record({
    retries: fc.integer({ min: 0, max: 2 }),
    retriesFailures: fc.boolean(),
    reassignAfterMs: fc.option(fc.constantFrom(1000, 600_000)),
    halt: fc.option(aHaltRule, { freq: 8 }),
  }),
});
const tape = fc.array(fc.nat(9999), { minLength: 20, maxLength: 300, size: "max" });

test("what is decided from the machines that have changed is what a look at all of them would decide", () => {
  fc.assert(
    fc.property(facts, tape, (about, numbers) => {
      let at = 0;
      const run = new Simulation(about, (count) => (numbers[at++ % numbers.length] ?? 0) % count);
      while (at < numbers.length) {
        run.step();
        takeStock(run.state.stock, run.now);
        const stock = newStock(run.state.machines.values());
        takeStock(stock, run.now);
        stock.dryAt = run.state.stock.dryAt;
        const afresh = { ...run.state, stock };
        expect(decide(run.state, run.now)).toEqual(decide(afresh, run.now));
        expect(decide(run.state, run.now), "asking changes nothing").toEqual(decide(afresh, run.now));
        expect(isOver(run.state, run.now)).toBe(isOver(afresh, run.now));
      }
    }),
    { numRuns: 250, endOnFailure: true },
  );
});
