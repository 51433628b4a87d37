import fc from "fast-check";
import { expect, test } from "vitest";
import type { TrackedJob } from "../../../src/model/batch-state.js";
import type { RunEvent } from "../../../src/model/event.js";
import { type Outcome, succeeded } from "../../../src/model/job.js";
import type { RunState } from "../../../src/plan/run-state.js";
import { aTape, simulationFacts } from "./a-tape.js";
import { Simulation } from "./simulated-run.js";

test("with any graph and any faults, a job begins only when all that it needs has happened, and the run ends", () => {
  fc.assert(
    fc.property(
      simulationFacts({ jobs: 8, machines: 2, canFail: true, hasGraph: true }),
      aTape(500),
      (facts, tape) => {
        let state: RunState | null = null;
        const audience = {
          begin: () => {},
          hear: (event: RunEvent) => {
            if (state === null || event.kind !== "jobs-assigned") return;
            for (const id of event.jobs) expect(needsOf(state, id), `job ${id}`).not.toContain("open");
            for (const id of event.jobs) expect(needsOf(state, id), `job ${id}`).not.toContain("no");
          },
        };
        const run = new Simulation(facts, tape.choose, audience);
        try {
          while (!tape.isOver) {
            state = run.state;
            run.step();
            compare(run.state);
          }
          state = run.state;
          expect(run.comesToItsEnd(), "it comes to its end").toBe(true);
          compare(run.state);
          // Machines that take jobs leave none that waits for a job.
          const isOpen = [...run.state.machines.values()].every(
            (machine) => machine.isOpen && !machine.isGivenUp,
          );
          if (isOpen && run.state.interrupted === "no") expect([...run.state.held]).toEqual([]);
        } catch (error) {
          throw new Error(`${(error as Error).message}\n${run.explain()}`);
        }
      },
    ),
    { numRuns: 300, endOnFailure: true },
  );
});

/** What each dependency says about its job, found without counts and lists. */
type Need = "open" | "yes" | "no" | "not needed";

function needsOf(state: RunState, id: number): Need[] {
  return (state.jobs.get(id)?.job.dependsOn ?? []).map(({ job, when }) => {
    const tracked = state.jobs.get(job);
    return tracked === undefined ? "yes" : needOf(endOf(tracked), when);
  });
}

/** Null: it may still run. */
function endOf({ fate }: TrackedJob): Outcome | string | null {
  if (fate.kind === "skipped") return fate.outcome ?? "succeeded";
  if (fate.kind !== "tried") return fate.kind === "waiting" || fate.kind === "dropped" ? null : fate.kind;
  const { stage } = fate;
  if (stage.kind === "unknown") return "unknown";
  if (stage.kind === "collected") return stage.isToRetry ? null : stage.outcome;
  return stage.kind === "stuck" ? stage.outcome : null;
}

function needOf(end: Outcome | string | null, when: "succeeded" | "ended" | "failed"): Need {
  if (end === null) return "open";
  if (end === "unknown") return "no";
  if (when === "ended") return "yes";
  if (end === "unneeded") return "not needed";
  const isGood = end === "succeeded" || (typeof end === "object" && succeeded(end));
  const isBad = typeof end === "object" && !succeeded(end) && end.kind !== "stopped";
  if (when === "succeeded") return isGood ? "yes" : "no";
  return isBad ? "yes" : isGood ? "not needed" : "no";
}

function compare(state: RunState): void {
  for (const [id, { fate }] of state.jobs) {
    const needs = needsOf(state, id);
    const kinds = ["waiting", "dropped", "blocked", "unneeded"];
    if (!kinds.includes(fate.kind)) continue;
    const wanted = fate.kind === "dropped" ? "dropped" : "waiting";
    const expected = needs.includes("no") ? "blocked" : needs.includes("not needed") ? "unneeded" : wanted;
    expect(`${id} ${fate.kind}`).toBe(`${id} ${expected}`);
    const isHeld = expected === "waiting" && needs.includes("open");
    expect(`${id} ${state.held.has(id)}`).toBe(`${id} ${isHeld}`);
    expect(`${id} ${state.waiting.has(id)}`).toBe(`${id} ${expected === "waiting" && !isHeld}`);
  }
}
