import fc from "fast-check";
import { expect, test } from "vitest";
import type { Attempt } from "../../../../src/model/attempt.js";
import { attemptKey } from "../../../../src/model/attempt-key.js";
import { type MachineState, newTally } from "../../../../src/model/batch-state.js";
import { attemptsOf, phaseOf } from "../../../../src/model/standing.js";
import type { RunState } from "../../../../src/plan/run-state.js";
import { aTape, simulationFacts } from "../a-tape.js";
import { Simulation } from "../simulated-run.js";

test("after any events, each index of a machine and the counts match a scan of all attempts", () => {
  fc.assert(
    fc.property(
      simulationFacts({ jobs: 6, machines: 3, canFail: true, hasGraph: true }),
      aTape(600),
      (facts, tape) => {
        const run = new Simulation(facts, tape.choose);
        while (!tape.isOver) {
          run.step();
          check(run.state);
        }
        expect(run.comesToItsEnd()).toBe(true);
        check(run.state);
      },
    ),
    { numRuns: 60, endOnFailure: true },
  );
});

function check(state: RunState): void {
  const attempts = [...state.jobs.values()].flatMap(attemptsOf);
  for (const machine of state.machines.values()) {
    const there = attempts.filter((attempt) => attempt.machine === machine.name);
    expect(keptOf(machine)).toEqual(scanOf(there));
  }
  const tally = newTally();
  for (const tracked of state.jobs.values()) tally[phaseOf(tracked)]++;
  expect(state.tally).toEqual(tally);
  const waiting = [...state.jobs].filter(([, { fate }]) => fate.kind === "waiting").map(([line]) => line);
  expect(sorted([...state.waiting, ...state.held])).toEqual(waiting);
  for (const tracked of state.jobs.values()) {
    const { fate } = tracked;
    const current = attemptsOf(tracked).filter(({ isCurrent }) => isCurrent);
    expect(current).toEqual(fate.kind === "tried" ? [fate] : []);
  }
}

type Kept = Record<string, readonly (string | number)[]>;

function keptOf({ current, overtaken, attempts, toFree, kept, rests, toRetry, stuck }: MachineState): Kept {
  const lists = { ...namedAfter("current", current), ...namedAfter("overtaken", overtaken) };
  return {
    ...lists,
    attempts: sorted([...attempts].map(([line, attempt]) => `${line}: ${attemptKey(attempt)}`)),
    toFree: keysOf([...toFree]),
    kept: sorted([...kept].map(([key, attempt]) => `${key}: ${attemptKey(attempt)}`)),
    rests: keysOf([...rests.values()]),
    toRetry: sorted(toRetry),
    stuck: [stuck],
  };
}

function namedAfter(name: string, sets: Readonly<Record<string, ReadonlySet<Attempt>>>): Kept {
  return Object.fromEntries(
    Object.entries(sets).map(([stage, set]) => [`${name} ${stage}`, keysOf([...set])]),
  );
}

function scanOf(there: readonly Attempt[]): Kept {
  const at = (isCurrent: boolean, ...kinds: Attempt["stage"]["kind"][]) =>
    keysOf(there.filter((each) => each.isCurrent === isCurrent && kinds.includes(each.stage.kind)));
  const held = there.filter(({ stage }) => stage.kind !== "collected" && stage.kind !== "stuck");
  const collected = there.flatMap((each) =>
    each.stage.kind === "collected" ? [{ each, ...each.stage }] : [],
  );
  const wholeAnd = (isKept: boolean) =>
    collected
      .filter((one) => one.isThere && one.missing.length === 0 && one.isKept === isKept)
      .map(({ each }) => each);
  return {
    "current assigned": at(true, "assigned"),
    "current sent": at(true, "sent"),
    "current queued": at(true, "queued"),
    "current running": at(true, "running"),
    "current ended": at(true, "ended"),
    "overtaken queued": at(false, "assigned", "sent", "queued"),
    "overtaken running": at(false, "running"),
    "overtaken ended": at(false, "ended"),
    attempts: sorted(held.map((each) => `${each.job}: ${attemptKey(each)}`)),
    toFree: keysOf(wholeAnd(false)),
    kept: sorted(wholeAnd(true).map((each) => `${attemptKey(each)}: ${attemptKey(each)}`)),
    rests: keysOf(collected.filter(({ missing }) => missing.length > 0).map(({ each }) => each)),
    toRetry: sorted(collected.filter(({ isToRetry }) => isToRetry).map(({ each }) => each.job)),
    stuck: [there.filter(({ stage }) => stage.kind === "stuck").length],
  };
}

function keysOf(attempts: readonly Attempt[]): string[] {
  return sorted(attempts.map(attemptKey));
}

function sorted<T extends string | number>(items: Iterable<T>): T[] {
  return [...items].sort((one, other) => (one < other ? -1 : 1));
}
