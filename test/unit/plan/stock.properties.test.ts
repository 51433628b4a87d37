import fc from "fast-check";
import { expect, test } from "vitest";
import { decide } from "../../../src/plan/decide.js";
import { isOver } from "../../../src/plan/remaining.js";
import { newStock, takeStock } from "../../../src/plan/stock.js";
import { aTape, simulationFacts } from "./a-tape.js";
import { Simulation } from "./simulated-run.js";

test("decisions from the changed machines are the same as decisions from all machines", () => {
  fc.assert(
    fc.property(
      simulationFacts({ jobs: 12, machines: 4, canFail: true, hasGraph: true }),
      aTape(300),
      (about, tape) => {
        const run = new Simulation(about, tape.choose);
        while (!tape.isOver) {
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
      },
    ),
    { numRuns: 250, endOnFailure: true },
  );
});
