import { expect, test } from "vitest";
import type { BatchState } from "../../../src/model/batch-state.js";
import { elapsedMs, timeLeftMs } from "../../../src/model/batch-times.js";
import type { RunEvent } from "../../../src/model/event.js";
import {
  assigned,
  jobCollected,
  jobEnded,
  jobStarted,
  ready,
  slotsWith,
  someJobs,
  started,
  viewOf,
} from "../report/builders.js";

const TWO_SLOTS = ready("a.yaml", slotsWith([0], [1]));

function stateAfter(...events: RunEvent[]): BatchState {
  return viewOf(["a.yaml"], events).state;
}

test("no estimate before a job has ended", () => {
  expect(timeLeftMs(stateAfter(started(someJobs(9)), TWO_SLOTS), 0)).toBeNull();
});

test("waiting jobs are estimated by the mean, over all slots", () => {
  const state = stateAfter(started(someJobs(11)), TWO_SLOTS, jobEnded(1, undefined, 4000));
  expect(timeLeftMs(state, 0)).toBe((10 * 4000) / 2);
});

const ONE_RUNS = [
  started(someJobs(2)),
  TWO_SLOTS,
  jobEnded(1, undefined, 4000),
  { ...jobStarted(2, "a.yaml", 0, 9000), startedAt: 6000 } as RunEvent,
];

test("a running job counts with its remaining time, from when it began", () => {
  expect(timeLeftMs(stateAfter(...ONE_RUNS), 9000)).toBe(1000);
});

test("no estimate for a job that exceeds the mean", () => {
  expect(timeLeftMs(stateAfter(...ONE_RUNS), 15_000)).toBeNull();
});

test("one waiting job takes as long on twenty slots as on one", () => {
  const twenty = ready("a.yaml", slotsWith(...Array.from({ length: 20 }, () => [])));
  const state = stateAfter(started(someJobs(2)), twenty, jobEnded(1, undefined, 4000));
  expect(timeLeftMs(state, 0)).toBe(4000);
});

test("while stopping, waiting jobs do not count", () => {
  const drain: RunEvent = { kind: "interrupted", at: 0, mode: "drain" };
  expect(timeLeftMs(stateAfter(started(someJobs(9)), TWO_SLOTS, jobEnded(1), drain), 0)).toBeNull();
});

test("stopped and lost jobs do not change the mean", () => {
  const state = stateAfter(
    started(someJobs(5)),
    TWO_SLOTS,
    jobEnded(1, undefined, 4000),
    jobEnded(2, { kind: "stopped" }, 10),
    jobEnded(3, { kind: "lost", reason: "" }, 0),
  );
  expect(timeLeftMs(state, 0)).toBe(4000);
});

test("jobs that are being stopped do not count", () => {
  const stop: RunEvent = { kind: "interrupted", at: 9000, mode: "stop" };
  expect(timeLeftMs(stateAfter(...ONE_RUNS, stop), 9000)).toBeNull();
});

const ran = (job: number, startedAt: number, endedAt: number, learnedAt: number): RunEvent[] => [
  { ...jobStarted(job, "a.yaml", 0, learnedAt), startedAt } as RunEvent,
  { ...jobEnded(job, undefined, endedAt - startedAt), at: learnedAt },
];

test("while a client follows it, all time counts", () => {
  const state = stateAfter(started(someJobs(1), 1000), jobStarted(1, "a.yaml", 0, 2000));
  expect(elapsedMs(state, 61_000)).toBe(60_000);
});

test("between two clients, time counts up to the end of the last job", () => {
  const first = [started(someJobs(2), 1000), jobStarted(1, "a.yaml", 0, 2000)];
  const second = [started(someJobs(2), 900_000), ...ran(1, 2000, 50_000, 901_000)];
  const state = stateAfter(...first, ...second, ...ran(2, 50_000, 121_000, 901_000));
  expect(elapsedMs(state, 902_000)).toBe(120_000 + 2000);
});

test("between two clients, all of the time counts if a job ran through it", () => {
  const first = [started(someJobs(1), 1000), jobStarted(1, "a.yaml", 0, 2000)];
  const running = stateAfter(...first, started(someJobs(1), 900_000));
  expect(elapsedMs(running, 901_000)).toBe(900_000);
  const ended = stateAfter(...first, started(someJobs(1), 900_000), ...ran(1, 2000, 905_000, 905_000));
  expect(elapsedMs(ended, 906_000)).toBe(905_000);
});

test("between two clients, no time counts if nothing ran", () => {
  const first = [started(someJobs(2), 1000), ...ran(1, 2000, 5000, 5000), jobCollected(1, 6000)];
  expect(elapsedMs(stateAfter(...first, started(someJobs(2), 900_000)), 901_000)).toBe(5000 + 1000);
});

test("commands on stdin after the earlier ones are done start a new batch", () => {
  const first = [started([], 1000), ...ran(1, 2000, 5000, 5000)];
  expect(elapsedMs(stateAfter(...first, started([], 6000)), 9000)).toBe(3000);
});

test("between two clients, all of the time counts if a machine had a job to run, and no room for it", () => {
  const first = [started(someJobs(1), 1000), assigned("a.yaml", [1])];
  expect(elapsedMs(stateAfter(...first, started(someJobs(1), 900_000)), 901_000)).toBe(900_000);
});

test("a job that ended before two clients started is counted once", () => {
  const first = [started(someJobs(1), 1000), jobStarted(1, "a.yaml", 0, 2000)];
  const later = [started(someJobs(1), 500_000), started(someJobs(1), 900_000)];
  const state = stateAfter(...first, ...later, ...ran(1, 2000, 61_000, 901_000));
  expect(elapsedMs(state, 902_000)).toBe(60_000 + 2000);
});

test("when no client follows the batch, it lasts until its last job has ended", () => {
  const state = stateAfter(started(someJobs(1), 1000), ...ran(1, 2000, 50_000, 0));
  expect(elapsedMs(state, null)).toBe(49_000);
});

test("a clock that was set back between two clients subtracts nothing", () => {
  const first = [started(someJobs(2), 7_200_000), jobCollected(1, 7_260_000)];
  expect(elapsedMs(stateAfter(...first, started(someJobs(2), 1000)), 11_000)).toBe(60_000 + 10_000);
});
