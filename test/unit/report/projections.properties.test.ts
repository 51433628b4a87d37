import fc from "fast-check";
import { expect, test } from "vitest";
import type { RunEvent } from "../../../src/model/event.js";
import { wordOf } from "../../../src/model/standing.js";
import { initialState } from "../../../src/plan/fold/initial-state.js";
import { replay } from "../../../src/plan/fold/replay.js";
import { aTape, simulationFacts } from "../plan/a-tape.js";
import { type Audience, Simulation } from "../plan/simulated-run.js";
import { EveryProjection } from "./every-projection.js";

/** Each client has its own reporters. */
class Onlookers implements Audience {
  #shown: EveryProjection | null = null;

  begin({ state }: Simulation): void {
    this.close();
    this.#shown = new EveryProjection(state);
  }

  hear(event: RunEvent, isNews: boolean): void {
    this.#shown?.hear(event, isNews);
  }

  close(): void {
    this.#shown?.close();
    this.#shown = null;
  }
}

test("after any events and any number of killed clients, all reports agree with the run", () => {
  fc.assert(
    fc.property(
      simulationFacts({ jobs: 6, machines: 3, canFail: true, hasGraph: true }),
      aTape(400),
      (facts, tape) => {
        const onlookers = new Onlookers();
        const run = new Simulation(facts, tape.choose, onlookers);
        while (!tape.isOver) run.step();
        expect(run.comesToItsEnd()).toBe(true);
        onlookers.close();
        if (!isTriedAgain(run.state)) expect(recordedWords(run)).toEqual(wordsOf(run.state));
      },
    ),
    { numRuns: 100, endOnFailure: true },
  );
});

/** The next client asks machines again that were left out, and for results that could not be collected. */
function isTriedAgain({ tally, machines }: Simulation["state"]): boolean {
  return tally.unknown > 0 || [...machines.values()].some(({ stuck }) => stuck > 0);
}

/** What `sshoal status` derives from the record alone. */
function recordedWords(run: Simulation): string[] {
  const policy = { retries: 0, retriesFailures: false, reassignAfterMs: null };
  const state = initialState({ jobs: run.jobs(), machines: [...run.state.machines.keys()], policy });
  replay(state, run.record);
  return wordsOf(state);
}

function wordsOf({ jobs }: Simulation["state"]): string[] {
  return [...jobs].map(([line, tracked]) => `${line} ${wordOf(tracked)}`);
}
