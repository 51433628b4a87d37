import fc from "fast-check";
import { expect, test } from "vitest";
import { parseAttemptKey } from "../../../src/model/attempt-key.js";
import { countJobs } from "../../../src/plan/run-state.js";
import { aTape, simulationFacts } from "./a-tape.js";
import { Simulation } from "./simulated-run.js";

test("with any faults at any time, no job is lost, none runs twice by accident, and the run ends", () => {
  fc.assert(
    fc.property(simulationFacts({ jobs: 6, machines: 3 }), aTape(600), (about, tape) => {
      const run = new Simulation(about, tape.choose);
      try {
        while (!tape.isOver) run.step();
        expect(run.comesToItsEnd(), "it comes to its end").toBe(true);
        const home = new Set([...run.placed].map((place) => parseAttemptKey(place.split(" ")[1] ?? "").job));
        for (const line of run.begunLines()) expect(home).toContain(line);
        // Without an interrupt, and with machines that take jobs, no job is left, either.
        const machines = [...run.state.machines.values()];
        if (run.state.interrupted !== "no" || machines.some(({ isOpen }) => !isOpen)) return;
        expect(countJobs(run.state).unfinished).toBe(0);
        for (const [line, { fate }] of run.state.jobs) if (fate.kind === "stopped") home.add(line);
        expect(home.size).toBe(about.jobs + about.late);
      } catch (error) {
        throw new Error(`${(error as Error).message}\n${run.explain()}`);
      }
    }),
    { numRuns: 400, endOnFailure: true },
  );
});
