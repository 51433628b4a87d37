import { expect, test } from "vitest";
import { keyOn, machineOf } from "../../../../src/plan/run-state.js";
import { aRun, collected, ended, FAILURE, freeing, given } from "../a-run.js";

test("freeing results does not affect a later attempt on the same machine", () => {
  const run = aRun({ jobs: 2, machines: { a: 1 }, policy: { retriesFailures: true } });
  run.tell(...given("a", 1, 2), ended("a", 1, FAILURE), collected("a", 1, FAILURE));
  run.tell({ kind: "jobs-retried", machine: "a", jobs: [1] }, ...given("a", 1));
  expect(run.begin()).toContainEqual(freeing("a", "5000000000001-1-1"));
  expect(keyOn(run.state, "a", 1)).toBe("5000000000001-1-2");
  run.tell(ended("a", 1, FAILURE, 2));
  expect(run.job(1)).toMatchObject({ kind: "ended", outcome: FAILURE });
  expect(machineOf(run.state, "a").attempts.get(1)?.number).toBe(2);
});

test("an attempt counts as a run only once it has begun", () => {
  const run = aRun({ jobs: 1, machines: { a: 1 }, policy: { retriesFailures: true } });
  const runs = () => run.attempts(1).map((attempt) => attempt.run);
  run.tell(...given("a", 1), { kind: "jobs-taken-back", machine: "a", jobs: [1], begun: [] });
  expect(runs()).toEqual([]);
  run.tell(...given("a", 1), ended("a", 1, FAILURE, 2), collected("a", 1, FAILURE, 2));
  run.tell({ kind: "jobs-retried", machine: "a", jobs: [1] }, ...given("a", 1));
  expect(runs()).toEqual([1, null]);
  run.tell(ended("a", 1, FAILURE, 3));
  expect(runs()).toEqual([1, 2]);
});
