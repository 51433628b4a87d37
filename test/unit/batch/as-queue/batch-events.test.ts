import { expect, test } from "vitest";
import { BatchEvents } from "../../../../src/batch/as-queue/batch-events.js";
import { queueJob } from "../../../../src/batch/as-queue/batch-job.js";
import type { RunEvent } from "../../../../src/model/event.js";
import type { Job } from "../../../../src/model/job.js";
import { apply } from "../../../../src/plan/fold/apply.js";
import { initialState } from "../../../../src/plan/fold/initial-state.js";
import { Results } from "../../../../src/run/home/results.js";
import {
  assigned,
  FAILURE,
  ready,
  SETTINGS,
  SUCCESS,
  slotsWith,
  someJobs,
  started,
} from "../../report/builders.js";

const AT = 1_000;
const POLICY = { retries: 0, retriesFailures: false, reassignAfterMs: null };
const ONE = { machine: "one", attempt: 1, at: AT };

function aBatch(jobs: readonly Job[], kept?: number) {
  const state = initialState({ jobs, machines: ["one"], policy: POLICY });
  const order = { settings: SETTINGS, policy: POLICY, results: new Results("/work") };
  for (const event of [started(jobs), ready("one", slotsWith([], []))]) apply(state, event);
  const facts = { batch: "b1", state, order, reasons: new Map() };
  const events = new BatchEvents(
    { batch: "b1", state: () => state, jobOf: (tracked) => queueJob(tracked, facts, AT) },
    AT,
    kept,
  );
  const begin = events.last;
  const note = (...all: RunEvent[]) => {
    for (const event of all) {
      apply(state, event);
      events.note(event);
    }
  };
  const heard = () => (events.after(begin) ?? []).map(({ kind, job, data }) => [kind, job, data?.state]);
  return { state, events, begin, note, heard };
}

const begun = (job: number): RunEvent => ({ kind: "job-started", ...ONE, job, slot: 0 });
const ended = (job: number, outcome = SUCCESS): RunEvent => ({
  kind: "job-ended",
  ...ONE,
  job,
  outcome,
  durationMs: 5,
  ...(outcome === FAILURE && { stderrTail: "oh\n" }),
});
const collected = (job: number, outcome = SUCCESS): RunEvent => ({
  kind: "job-collected",
  ...ONE,
  job,
  outcome,
  files: 1,
  bytes: 1,
});
const handedOver = (...jobs: number[]): RunEvent[] => [
  assigned("one", jobs),
  { kind: "jobs-handed-over", machine: "one", jobs, at: AT },
];

test("a job is reported when its state changes, and when its results are here; repeats are not", () => {
  const { note, heard, events, begin } = aBatch(someJobs(2));
  note(...handedOver(1, 2), begun(1), begun(1), ended(1, FAILURE), ended(1, FAILURE), collected(1, FAILURE));
  expect(heard()).toEqual([
    ["job-started", 1, "running"],
    ["job-ended", 1, "failed"],
    ["job-changed", 1, "failed"],
  ]);
  const all = events.after(begin) ?? [];
  expect(all.map(({ seq }) => seq)).toEqual([begin + 1, begin + 2, begin + 3]);
  expect(all[1]?.data).toMatchObject({ outcome: FAILURE, durationMs: 5, isHere: false, stderrTail: "oh\n" });
  expect(all[2]?.data).toMatchObject({ isHere: true });
});

test("jobs that an event changes without naming them are reported", () => {
  const { note, heard } = aBatch(someJobs(2));
  note(...handedOver(1), begun(1), {
    kind: "machine-failed",
    machine: "one",
    reason: "its key has changed",
    hint: null,
    at: AT,
  });
  expect(heard().slice(1)).toEqual([
    ["job-ended", 1, "lost"],
    ["machine-failed", undefined, undefined],
  ]);
});

test("jobs that arrive, and jobs that leave the file, are reported", () => {
  const [one, two] = someJobs(2) as [Job, Job];
  const { state, note, heard } = aBatch([one]);
  note({ kind: "jobs-added", jobs: [two], position: null, at: AT });
  const tracked = state.jobs.get(1);
  if (tracked !== undefined) tracked.traits = { ...tracked.traits, isGone: true };
  note(started([two], AT));
  expect(heard()).toEqual([
    ["job-added", 2, "waiting"],
    ["job-removed", 1, undefined],
  ]);
});

test("a pause, its end, and the reason of a waiting job are each reported once", () => {
  const { note, heard, events, begin } = aBatch(someJobs(1));
  const waits: RunEvent = { kind: "slot-waiting", machine: "one", slot: 0, reason: "mem 5", job: 1, at: AT };
  note(...handedOver(1), waits, waits, { kind: "paused", pid: 1, at: AT }, { kind: "continued", at: AT });
  expect(heard().map(([kind]) => kind)).toEqual(["job-changed", "queue-paused", "queue-resumed"]);
  expect(events.after(begin)?.[0]?.data).toEqual({ reason: "one mem 5" });
});

test("the last events are kept; a reader that missed one learns it", () => {
  const { note, events, begin } = aBatch(someJobs(1), 3);
  const lost: RunEvent = { kind: "machine-lost", machine: "one", reason: "timeout", at: AT };
  const back: RunEvent = { kind: "machine-back", machine: "one", at: AT };
  for (let round = 0; round < 5; round++) note(lost, back);
  expect(events.last).toBe(begin + 10);
  expect(events.after(begin)).toBeNull();
  expect(events.after(begin + 11)).toBeNull();
  expect(events.after(begin + 10)).toEqual([]);
  expect(events.after(begin + 8)?.map(({ kind }) => kind)).toEqual(["machine-lost", "machine-back"]);
  expect(events.after(begin + 7, 1)?.map(({ seq }) => seq)).toEqual([begin + 8]);
});

test("a client that follows the batch later has larger numbers", () => {
  const state = initialState({ jobs: [], machines: [], policy: POLICY });
  const of = { batch: "b1", state: () => state, jobOf: () => Object.assign({}) };
  const first = new BatchEvents(of, AT);
  first.note({ kind: "warning", message: "oh", at: AT });
  expect(new BatchEvents(of, AT + 1).last).toBeGreaterThan(first.last);
});
