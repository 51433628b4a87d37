import { expect, test } from "vitest";
import type { Job } from "../../../src/model/job.js";
import { phasesOf } from "../../../src/plan/phases.js";

function aJob(id: number, ...before: number[]): Job {
  const dependsOn = before.map((job) => ({ job, when: "succeeded" as const }));
  return { id, line: id, name: `j.${id}`, command: "x", ...(before.length > 0 && { dependsOn }) };
}

test("a job is in the phase after the last of those that it comes after", () => {
  const phases = phasesOf([aJob(1, 4), aJob(2), aJob(3, 2), aJob(4, 3, 2), aJob(5)]);
  expect(phases.map((phase) => phase.map(({ id }) => id))).toEqual([[2, 5], [3], [4], [1]]);
});

test("jobs that are done hold nothing up", () => {
  expect(phasesOf([aJob(2, 1)])).toHaveLength(1);
});
