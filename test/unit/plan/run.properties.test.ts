import fc from "fast-check";
import { expect, test } from "vitest";
import { countJobs } from "../../../src/plan/run-state.js";
import { aHaltRule } from "./a-halt-rule.js";
import { Simulation } from "./simulated-run.js";

const facts = fc.record({
  jobs: fc.integer({ min: 1, max: 6 }),
  late: fc.integer({ min: 0, max: 3 }),
  slots: fc.array(fc.integer({ min: 1, max: 2 }), { minLength: 1, maxLength: 3 }),
  isMixed: fc.boolean(),
  policy: fc.record({
    retries: fc.integer({ min: 0, max: 2 }),
    retriesFailures: fc.boolean(),
    reassignAfterMs: fc.option(fc.constantFrom(1000, 600_000)),
    halt: fc.option(aHaltRule, { freq: 8 }),
  }),
});
/** What happens when, one number for each choice. */
const tape = fc.array(fc.nat(9999), { minLength: 20, maxLength: 600, size: "max" });

test("whatever goes wrong and when: nothing is lost, nothing runs twice by accident, and the run comes to its end", () => {
  fc.assert(
    fc.property(facts, tape, (about, numbers) => {
      let at = 0;
      const run = new Simulation(about, (count) => (numbers[at++ % numbers.length] ?? 0) % count);
      try {
        while (at < numbers.length) run.step();
        expect(run.comesToItsEnd(), "it comes to its end").toBe(true);
        const home = new Set([...run.placed].map((attempt) => Number(attempt.split(" ")[1]?.split("-")[0])));
        for (const line of run.begunLines()) expect(home).toContain(line);
        // Without an interrupt, and with machines that take jobs, nothing is left undone either.
        const machines = [...run.state.machines.values()];
        if (run.state.interrupted !== "no" || machines.some(({ isOpen }) => !isOpen)) return;
        expect(countJobs(run.state).unfinished).toBe(0);
        expect(home.size).toBe(about.jobs + about.late);
      } catch (error) {
        throw new Error(`${(error as Error).message}\n${run.explain()}`);
      }
    }),
    { numRuns: 400, endOnFailure: true },
  );
});
