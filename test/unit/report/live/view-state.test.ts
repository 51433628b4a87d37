import { expect, test } from "vitest";
import { newTally } from "../../../../src/model/batch-state.js";
import { runningJobs } from "../../../../src/report/live/view-state.js";
import {
  assigned,
  aView,
  FAILURE,
  jobCollected,
  jobEnded,
  jobSaid,
  jobStarted,
  ready,
  SUCCESS,
  slotsWith,
  someJobs,
  started,
  unreachable,
  viewOf,
} from "../builders.js";

const ONE_SLOT = ready("a.yaml", slotsWith([0]));

test("a job is counted once, at any stage", () => {
  const { view, tell } = aView(["a.yaml"], [started(someJobs(1))]);
  expect(view.state.tally).toEqual({ ...newTally(), waiting: 1 });
  tell(jobStarted(1, "a.yaml", 0));
  expect(view.state.tally).toEqual({ ...newTally(), running: 1 });
  tell(jobEnded(1));
  expect(view.state.tally).toEqual({ ...newTally(), ended: 1 });
  tell(jobCollected(1));
  expect(view.state.tally).toEqual({ ...newTally(), succeeded: 1 });
});

test("a slot is busy from the start of a job to its end", () => {
  const events = [started(someJobs(2)), ONE_SLOT, jobStarted(1, "a.yaml", 0)];
  const { view, tell } = aView(["a.yaml"], events);
  expect(runningJobs(view)).toMatchObject([{ machine: "a.yaml", slot: 0, job: { line: 1 } }]);
  tell(jobEnded(1));
  expect(runningJobs(view)).toEqual([]);
});

test("running jobs are in the order of the batch, not of their starts", () => {
  const starts = [
    jobStarted(1, "a.yaml", 0, 30),
    jobStarted(2, "b.yaml", 0, 20),
    jobStarted(3, "a.yaml", 1, 40),
  ];
  const view = viewOf(["a.yaml", "b.yaml"], [started(someJobs(3)), ...starts]);
  expect(runningJobs(view).map(({ job }) => job.id)).toEqual([1, 2, 3]);
});

test("a slot no longer waits when it starts a job", () => {
  const { view, tell } = aView(["a.yaml"], [started(someJobs(1)), ONE_SLOT]);
  tell({ kind: "slot-waiting", at: 0, machine: "a.yaml", slot: 0, reason: "card in use", job: 1 });
  expect([...(view.machines.get("a.yaml")?.held.values() ?? [])]).toEqual([
    { slot: 0, job: 1, reason: "card in use" },
  ]);
  tell(jobStarted(1, "a.yaml", 0));
  expect(view.machines.get("a.yaml")?.held.size).toBe(0);
});

test("repeated events are no news", () => {
  const { view, tell } = aView(["a.yaml"], [started(someJobs(1)), ONE_SLOT]);
  expect(tell(jobStarted(1, "a.yaml", 0, 100), jobStarted(1, "a.yaml", 0, 900))).toEqual([true, false]);
  expect(runningJobs(view)).toMatchObject([{ startedAt: 100 }]);
  expect(tell(jobEnded(1), jobEnded(1))).toEqual([true, false]);
  expect(tell(jobCollected(1), jobCollected(1))).toEqual([true, false]);
  expect(tell(jobEnded(1, FAILURE))).toEqual([false]);
  expect(view.state.tally).toMatchObject({ succeeded: 1, failed: 0, ended: 0 });
  expect(view.state.life.durations.count).toBe(1);
});

test("a slot's old log, read from its start, changes nothing", () => {
  const log = [jobStarted(1, "a.yaml", 0), jobEnded(1), jobStarted(2, "a.yaml", 0)];
  const { view, tell } = aView(["a.yaml"], [started(someJobs(2)), ONE_SLOT, ...log]);
  expect(tell(...log)).toEqual([false, false, false]);
  expect(view.state.tally).toMatchObject({ ended: 1, running: 1 });
});

test("another attempt replaces the one before, whose events no longer count", () => {
  const events = [started(someJobs(1)), assigned("a.yaml", [1]), jobStarted(1, "a.yaml", 0)];
  const { view, tell } = aView(["a.yaml", "b.yaml"], events);
  tell(assigned("b.yaml", [1]));
  expect(view.state.tally).toMatchObject({ waiting: 1, running: 0 });
  expect(runningJobs(view)).toEqual([]);
  expect(tell(jobEnded(1), jobStarted(1, "b.yaml", 0, 0, 2))).toEqual([false, true]);
  expect(view.state.tally).toMatchObject({ waiting: 0, running: 1 });
});

test("the fate of jobs on a machine that was left out is unknown", () => {
  const view = viewOf(
    ["a.yaml"],
    [
      started(someJobs(5)),
      { kind: "jobs-handed-over", at: 0, machine: "a.yaml", jobs: [1, 2, 3, 4] },
      { kind: "jobs-taken-back", at: 0, machine: "a.yaml", jobs: [4], begun: [] },
      jobStarted(1, "a.yaml", 0),
      jobEnded(1),
      jobCollected(1),
      jobStarted(2, "a.yaml", 0),
      unreachable("a.yaml"),
    ],
  );
  expect(view.state.tally).toMatchObject({ succeeded: 1, unknown: 2, waiting: 2, running: 0 });
  expect(runningJobs(view)).toEqual([]);
});

test("the last line of a running job is made safe to print, with its time", () => {
  const { view, tell } = aView(["a.yaml"], [started(someJobs(1)), jobStarted(1, "a.yaml", 0)]);
  expect(runningJobs(view)).toMatchObject([{ said: null }]);
  tell(jobSaid(1, "10%\r\x1b[32m20%\x1b[0m"));
  expect(runningJobs(view)).toMatchObject([{ said: { text: "20%", at: 0 } }]);
});

test("events of unknown jobs are no news", () => {
  const { view, tell } = aView([], [started(someJobs(1))]);
  expect(tell(jobStarted(7, "a.yaml", 0))).toEqual([false]);
  expect(runningJobs(view)).toEqual([]);
});

test("100,000 jobs are counted one by one without copying", () => {
  const { view, tell } = aView(["a.yaml"], [started(someJobs(100_000)), ONE_SLOT]);
  for (let line = 1; line <= 100_000; line += 1) {
    tell(jobStarted(line, "a.yaml", 0));
    tell(jobEnded(line, line % 10 === 0 ? FAILURE : SUCCESS));
    tell(jobCollected(line));
  }
  expect(view.state.tally).toMatchObject({
    succeeded: 90_000,
    failed: 10_000,
    waiting: 0,
    running: 0,
    ended: 0,
  });
});
