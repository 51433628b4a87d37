import { expect, test } from "vitest";
import { applyToView, newView } from "../../../src/report/view-state.js";
import {
  assigned,
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
} from "./builders.js";

const ONE_SLOT = ready("a.yaml", slotsWith([0]));

test("a job is counted once, wherever it is on its way", () => {
  const view = newView(["a.yaml"]);
  const zero = { waiting: 0, running: 0, succeeded: 0, failed: 0, skipped: 0, ended: 0, unknown: 0 };
  applyToView(view, started(someJobs(1)));
  expect(view.tally).toEqual({ ...zero, waiting: 1 });
  applyToView(view, jobStarted(1, "a.yaml", 0));
  expect(view.tally).toEqual({ ...zero, running: 1 });
  applyToView(view, jobEnded(1));
  expect(view.tally).toEqual({ ...zero, ended: 1 });
  applyToView(view, jobCollected(1));
  expect(view.tally).toEqual({ ...zero, succeeded: 1 });
});

test("a slot is busy from the start of a job to its end", () => {
  const view = viewOf(["a.yaml"], [started(someJobs(2)), ONE_SLOT, jobStarted(1, "a.yaml", 0)]);
  expect([...(view.machines.get("a.yaml")?.busy ?? [])]).toEqual([[0, 1]]);
  applyToView(view, jobEnded(1));
  expect(view.machines.get("a.yaml")?.busy.size).toBe(0);
  expect(view.running.size).toBe(0);
});

test("a slot no longer waits when it starts a job", () => {
  const view = viewOf(["a.yaml"], [started(someJobs(1)), ONE_SLOT]);
  applyToView(view, { kind: "slot-waiting", at: 0, machine: "a.yaml", slot: 0, reason: "card in use" });
  expect(view.machines.get("a.yaml")?.held.get(0)).toBe("card in use");
  applyToView(view, jobStarted(1, "a.yaml", 0));
  expect(view.machines.get("a.yaml")?.held.size).toBe(0);
});

test("what was told before is no news", () => {
  const view = viewOf(["a.yaml"], [started(someJobs(1)), ONE_SLOT]);
  expect(applyToView(view, jobStarted(1, "a.yaml", 0, 100))).toBe(true);
  expect(applyToView(view, jobStarted(1, "a.yaml", 0, 900))).toBe(false);
  expect(view.running.get(1)?.startedAt).toBe(100);
  expect(applyToView(view, jobEnded(1))).toBe(true);
  expect(applyToView(view, jobEnded(1))).toBe(false);
  expect(applyToView(view, jobCollected(1))).toBe(true);
  expect(applyToView(view, jobCollected(1))).toBe(false);
  expect(applyToView(view, jobEnded(1, FAILURE))).toBe(false);
  expect(view.tally).toMatchObject({ succeeded: 1, failed: 0, ended: 0 });
  expect(view.durations.count).toBe(1);
});

test("a slot's old log, told from its beginning, changes nothing", () => {
  const log = [jobStarted(1, "a.yaml", 0), jobEnded(1), jobStarted(2, "a.yaml", 0)];
  const view = viewOf(["a.yaml"], [started(someJobs(2)), ONE_SLOT, ...log]);
  expect(log.map((event) => applyToView(view, event))).toEqual([false, false, false]);
  expect(view.tally).toMatchObject({ ended: 1, running: 1 });
});

test("another attempt takes the place of the one before, whose news no longer count", () => {
  const events = [started(someJobs(1)), assigned("a.yaml", [1]), jobStarted(1, "a.yaml", 0)];
  const view = viewOf(["a.yaml", "b.yaml"], events);
  applyToView(view, assigned("b.yaml", [1]));
  expect(view.tally).toMatchObject({ waiting: 1, running: 0 });
  expect(view.machines.get("a.yaml")?.busy.size).toBe(0);
  expect(applyToView(view, jobEnded(1))).toBe(false);
  expect(applyToView(view, jobStarted(1, "b.yaml", 0, 0, 2))).toBe(true);
  expect(view.tally).toMatchObject({ waiting: 0, running: 1 });
});

test("of what a machine had when it was left out nobody knows", () => {
  const view = viewOf(
    ["a.yaml"],
    [
      started(someJobs(5)),
      { kind: "jobs-handed-over", at: 0, machine: "a.yaml", lines: [1, 2, 3, 4] },
      { kind: "jobs-taken-back", at: 0, machine: "a.yaml", lines: [4], begun: [] },
      jobStarted(1, "a.yaml", 0),
      jobEnded(1),
      jobCollected(1),
      jobStarted(2, "a.yaml", 0),
      unreachable("a.yaml"),
    ],
  );
  expect(view.tally).toMatchObject({ succeeded: 1, unknown: 2, waiting: 2, running: 0 });
  expect(view.running.size).toBe(0);
});

test("the last line of a running job is made fit to show; its command stands in until then", () => {
  const view = viewOf(["a.yaml"], [started(someJobs(1)), jobStarted(1, "a.yaml", 0)]);
  expect(view.running.get(1)?.lastLine).toBe("echo 1");
  applyToView(view, jobSaid(1, "10%\r\x1b[32m20%\x1b[0m"));
  expect(view.running.get(1)?.lastLine).toBe("20%");
});

test("events of jobs nobody announced are no news", () => {
  const view = viewOf([], [started(someJobs(1))]);
  expect(applyToView(view, jobStarted(7, "a.yaml", 0))).toBe(false);
  expect(view.running.size).toBe(0);
});

test("100,000 jobs are counted one by one without copying", () => {
  const view = viewOf(["a.yaml"], [started(someJobs(100_000)), ONE_SLOT]);
  for (let line = 1; line <= 100_000; line += 1) {
    applyToView(view, jobStarted(line, "a.yaml", 0));
    applyToView(view, jobEnded(line, line % 10 === 0 ? FAILURE : SUCCESS));
    applyToView(view, jobCollected(line));
  }
  expect(view.tally).toMatchObject({
    succeeded: 90_000,
    failed: 10_000,
    waiting: 0,
    running: 0,
    ended: 0,
  });
});
