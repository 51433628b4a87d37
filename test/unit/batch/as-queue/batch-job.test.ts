import { expect, test } from "vitest";
import { queueJob } from "../../../../src/batch/as-queue/batch-job.js";
import { findJobs } from "../../../../src/batch/as-queue/find-jobs.js";
import type { RunEvent } from "../../../../src/model/event.js";
import type { Job } from "../../../../src/model/job.js";
import type { JobQuery } from "../../../../src/model/queue.js";
import { apply } from "../../../../src/plan/fold/apply.js";
import { initialState } from "../../../../src/plan/fold/initial-state.js";
import { Results } from "../../../../src/run/home/results.js";
import { assigned, FAILURE, ready, SETTINGS, slotsWith, someJobs, started } from "../../report/builders.js";

const AT = 1_000;
const POLICY = { retries: 2, retriesFailures: false, reassignAfterMs: null };
const ONE = { machine: "one", attempt: 1, at: AT };

function aBatch(jobs: readonly Job[], ...events: RunEvent[]) {
  const state = initialState({ jobs, machines: ["one"], policy: POLICY });
  for (const event of [started(jobs, AT), ready("one", slotsWith([])), ...events]) apply(state, event);
  const waits = new Map([["0 2", { slot: 0, job: 2, reason: "mem 5" }]]);
  const order = { settings: SETTINGS, policy: POLICY, results: new Results("/work") };
  const facts = { batch: "b1", state, order, reasons: new Map([["one", waits]]) };
  const jobOf = (id: number) => {
    const tracked = state.jobs.get(id);
    if (tracked === undefined) throw new Error(`no job ${id}`);
    return queueJob(tracked, facts, AT);
  };
  return { state, jobOf, idsOf: (query: JobQuery) => findJobs(state, query).map(({ job }) => job.id) };
}

const begun: RunEvent = {
  kind: "job-started",
  ...ONE,
  job: 1,
  slot: 0,
  gpus: ["1"],
  resources: { licence: ["a"] },
};
const over: RunEvent[] = [
  { kind: "job-ended", ...ONE, job: 1, outcome: FAILURE, durationMs: 5 },
  { kind: "job-collected", ...ONE, job: 1, outcome: FAILURE, files: 0, bytes: 0 },
];

test("a job has what it got, also after its end, and the terms of its batch", () => {
  const { jobOf } = aBatch(someJobs(1, { timeoutSeconds: 9 }), assigned("one", [1]), begun, ...over);
  expect(jobOf(1)).toMatchObject({
    queue: "b1",
    name: "batch.sh.1",
    cwd: "/work",
    need: SETTINGS.requirement,
    priority: 0,
    terms: { timeoutSeconds: 9, retries: 2 },
    state: "failed",
    isHere: true,
    attempt: 1,
    machine: "one",
    got: { gpu: ["1"], licence: ["a"] },
    outcome: FAILURE,
    durationMs: 5,
    enqueuedAt: AT,
    results: "/work/job_results/batch.sh.1",
  });
});

test("a waiting job is nowhere yet, and has the reason of its machine", () => {
  const { jobOf } = aBatch(someJobs(2), assigned("one", [1, 2]));
  expect(jobOf(2)).toMatchObject({ state: "waiting", machine: null, reason: "one mem 5", startedAt: null });
});

test("a job that comes after another one says so while it waits, and why it is skipped", () => {
  const [one, two] = someJobs(2) as [Job, Job];
  const jobs: Job[] = [one, { ...two, dependsOn: [{ job: 1, when: "succeeded" }] }];
  expect(aBatch(jobs).jobOf(2)).toMatchObject({ state: "waiting", reason: "it comes after job 1" });
  expect(aBatch(jobs, assigned("one", [1]), begun, ...over).jobOf(2)).toMatchObject({
    state: "skipped",
    reason: "job 1 failed, and had to succeed",
    after: [{ job: 1, when: "succeeded" }],
  });
});

test("jobs are found by ids, names, labels, states and text, newest first", () => {
  const jobs = someJobs(12).map((job) => (job.id === 3 ? { ...job, command: "python Train.py" } : job));
  const { state, idsOf } = aBatch(jobs, assigned("one", [1]), begun);
  expect(idsOf({ limit: 3 })).toEqual([12, 11, 10]);
  expect(idsOf({ limit: 3, before: 10 })).toEqual([9, 8, 7]);
  expect(idsOf({ limit: 2, isOldestFirst: true })).toEqual([1, 2]);
  expect(idsOf({ limit: 2, isOldestFirst: true, before: 2 })).toEqual([3, 4]);
  expect(idsOf({ ids: [5, 4, 5, 99] })).toEqual([5, 4]);
  expect(idsOf({ names: ["*.1?"] })).toEqual([12, 11, 10]);
  expect(idsOf({ names: ["7", "batch.sh.2"] })).toEqual([7, 2]);
  expect(idsOf({ states: ["running"] })).toEqual([1]);
  expect(idsOf({ text: "train" })).toEqual([3]);
  const tracked = state.jobs.get(12);
  if (tracked !== undefined) tracked.traits = { ...tracked.traits, isGone: true };
  expect(idsOf({ limit: 1 })).toEqual([11]);
});
