import { expect, test } from "vitest";
import { timeLeftMs } from "../../../../src/report/live/time-left.js";
import { jobEnded, jobStarted, ready, slotsWith, someJobs, started, viewOf } from "../builders.js";

const TWO_SLOTS = ready("a.yaml", slotsWith([0], [1]));

test("nothing is known until a job ended", () => {
  expect(timeLeftMs(viewOf(["a.yaml"], [started(someJobs(9)), TWO_SLOTS]), 0)).toBeNull();
});

test("waiting jobs are reckoned at the mean, over all slots", () => {
  const view = viewOf(["a.yaml"], [started(someJobs(11)), TWO_SLOTS, jobEnded(1, undefined, 4000)]);
  expect(timeLeftMs(view, 0)).toBe((10 * 4000) / 2);
});

test("a running job counts with what is left of it", () => {
  const view = viewOf(
    ["a.yaml"],
    [started(someJobs(2)), TWO_SLOTS, jobEnded(1, undefined, 4000), jobStarted(2, "a.yaml", 0, 0)],
  );
  expect(timeLeftMs(view, 3000)).toBe(1000);
});

test("nothing is known of a job that runs over the mean", () => {
  const view = viewOf(
    ["a.yaml"],
    [started(someJobs(2)), TWO_SLOTS, jobEnded(1, undefined, 4000), jobStarted(2, "a.yaml", 0, 0)],
  );
  expect(timeLeftMs(view, 9000)).toBeNull();
});

test("one waiting job takes as long on twenty slots as on one", () => {
  const twenty = ready("a.yaml", slotsWith(...Array.from({ length: 20 }, () => [])));
  const view = viewOf(["a.yaml"], [started(someJobs(2)), twenty, jobEnded(1, undefined, 4000)]);
  expect(timeLeftMs(view, 0)).toBe(4000);
});

test("while stopping, waiting jobs do not count", () => {
  const view = viewOf(
    ["a.yaml"],
    [started(someJobs(9)), TWO_SLOTS, jobEnded(1), { kind: "interrupted", at: 0, mode: "drain" }],
  );
  expect(timeLeftMs(view, 0)).toBeNull();
});
