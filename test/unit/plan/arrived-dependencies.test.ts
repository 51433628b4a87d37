import { expect, test } from "vitest";
import type { Outcome } from "../../../src/model/job.js";
import { arrivedDependencies } from "../../../src/plan/arrived-dependencies.js";

const SUCCESS: Outcome = { kind: "exited", code: 0 };
const FAILURE: Outcome = { kind: "exited", code: 1 };

/** `here` runs; `good` and `bad` ended in an earlier run. */
const ARRIVED = {
  idOf: (word: string) => ({ here: 1, good: 2, bad: 3 })[word],
  isHere: (id: number) => id === 1,
  outcomeOf: (id: number) => ({ 2: SUCCESS, 3: FAILURE })[id],
};

function find(when: "succeeded" | "ended" | "failed", ...words: string[]) {
  return arrivedDependencies([{ when, words, where: "queue:7" }], ARRIVED);
}

test("jobs of this run are waited for; what an earlier run has done as needed is met", () => {
  expect(find("succeeded", "here", "good")).toEqual([{ job: 1, when: "succeeded" }]);
  expect(find("failed", "bad")).toEqual([]);
  expect(find("ended", "bad", "good")).toEqual([]);
});

test("an unknown job, and one that ended otherwise in an earlier run, are refused", () => {
  expect(find("succeeded", "later")).toBe("queue:7: no job later has arrived before");
  expect(find("succeeded", "bad")).toBe("queue:7: the job bad has ended already: exit code 1");
});
