import { expect, test } from "vitest";
import type { Footprint } from "../../../src/model/footprint.js";
import type { Outcome, Requirement } from "../../../src/model/job.js";
import { adviseNeeds } from "../../../src/plan/advise-needs.js";
import { aCapacity, aGpuNeed, aNeed, aSpec, gpus } from "./a-machine.js";
import { aRun, FAILURE, SUCCESS } from "./a-run.js";

/** A run whose first jobs used this, each. */
function jobsThatUsed(jobs: number, ...footprints: (Footprint & { outcome?: Outcome })[]) {
  const run = aRun({ jobs, machines: { a: 1 } });
  footprints.forEach(({ outcome = SUCCESS, ...footprint }, index) => {
    const about = { job: index + 1, attempt: 1, machine: "a" };
    run.tell({ kind: "jobs-assigned", machine: "a", jobs: [index + 1], attempts: [1] });
    run.tell({ kind: "job-ended", ...about, outcome, durationMs: 1, footprint });
  });
  return [...run.state.jobs.values()];
}

const machine = (freeMb: number, cards: Parameters<typeof gpus> = []) => ({
  spec: aSpec(),
  capacity: aCapacity({ memory: { totalMb: freeMb, freeMb }, gpus: gpus(...cards) }),
});

const memory = (peaks: number[], { freeMb = 14_500, jobs = 30 } = {}) =>
  adviseNeeds({
    jobs: jobsThatUsed(jobs, ...peaks.map((memoryMb) => ({ memoryMb }))),
    requirement: aNeed(),
    machines: [machine(freeMb)],
  });

test("the largest peak with a margin, as a round number", () => {
  expect(memory([1200, 1830, 900])).toEqual([
    { what: "memory", neededMb: 7000, peakMb: 1830, enoughMb: 2000, times: 3.5 },
  ]);
  expect(memory([1])).toMatchObject([{ enoughMb: 100 }]);
  expect(memory([996])).toMatchObject([{ enoughMb: 1100 }]);
});

test.each([
  ["hardly less would do", () => memory([5000])],
  ["jobs use more than they ask for", () => memory([9000])],
  ["there are no more jobs", () => memory([1830], { jobs: 2 })],
  ["nothing was measured", () => memory([])],
  ["cores are the limit", () => memory([1830], { freeMb: 10_000_000 })],
  [
    "no measured job succeeded",
    () =>
      adviseNeeds({
        jobs: jobsThatUsed(30, { memoryMb: 100, outcome: FAILURE }),
        requirement: aNeed(),
        machines: [machine(14_500)],
      }),
  ],
  [
    "jobs ask for different amounts",
    () => {
      const jobs = jobsThatUsed(30, { memoryMb: 100 });
      const [, other] = jobs;
      if (other) other.job = { ...other.job, requirement: aNeed({ memoryMb: 100 }) };
      return adviseNeeds({ jobs, requirement: aNeed(), machines: [machine(14_500)] });
    },
  ],
])("nothing if %s", (_, advice) => {
  expect(advice()).toEqual([]);
});

test("the same need of all jobs may be their own", () => {
  const jobs = jobsThatUsed(30, { memoryMb: 1830 });
  for (const each of jobs) each.job = { ...each.job, requirement: aNeed({ memoryMb: 4000 }) };
  const advice = adviseNeeds({ jobs, requirement: aNeed(), machines: [machine(16_000)] });
  expect(advice).toMatchObject([{ neededMb: 4000, enoughMb: 2000, times: 2 }]);
});

test("memory of cards counts only if jobs may share them", () => {
  const ask = (isReserved: boolean, requirement: Partial<Requirement> = {}) =>
    adviseNeeds({
      jobs: jobsThatUsed(30, { memoryMb: 50, gpuMemoryMb: 3000 }),
      requirement: aNeed({
        memoryMb: 10,
        gpu: aGpuNeed({ memoryMb: 16_000, utilization: 0.1, isReserved }),
        ...requirement,
      }),
      machines: [machine(1_000_000, [{}, {}])],
    });
  expect(ask(true)).toEqual([]);
  expect(ask(false)).toEqual([
    { what: "gpu-memory", neededMb: 16_000, peakMb: 3000, enoughMb: 3300, times: 7 },
  ]);
  expect(ask(false, { gpu: null })).toEqual([]);
});
