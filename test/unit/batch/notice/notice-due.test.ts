import { expect, test } from "vitest";
import { dueOf, isAtEnd } from "../../../../src/batch/notice/notice-due.js";
import type { RunEvent } from "../../../../src/model/event.js";
import { apply } from "../../../../src/plan/fold/apply.js";
import { initialState } from "../../../../src/plan/fold/initial-state.js";
import { assigned, FAILURE, someJobs } from "../../report/builders.js";

const POLICY = { retries: 0, retriesFailures: false, reassignAfterMs: null };
const notice = (on: "end" | "failure", since = 0) => ({ command: "x", on, since });

/** A job that failed at that time; its results are on its machine. */
function failedAt(at: number) {
  const state = initialState({ jobs: someJobs(2), machines: ["a"], policy: POLICY });
  const about = { job: 1, attempt: 1, machine: "a", at };
  const events: RunEvent[] = [
    assigned("a", [1]),
    { kind: "job-started", slot: 0, ...about },
    { kind: "job-ended", outcome: FAILURE, durationMs: 0, ...about },
  ];
  for (const event of events) apply(state, event);
  return state;
}

test("the end is due at the end", () => {
  const state = failedAt(1000);
  expect(dueOf(notice("end"), { state, isFollowed: false, isOver: false })).toBe(null);
  expect(dueOf(notice("end"), { state, isFollowed: false, isOver: true })).toBe("due");
});

test("a failure from before the notice was asked for does not count, give or take what clocks differ", () => {
  const due = (since: number, isOver: boolean) =>
    dueOf(notice("failure", since), { state: failedAt(10_000), isFollowed: false, isOver });
  expect(due(9000, false)).toBe("due");
  expect(due(11_000, false)).toBe("due");
  expect(due(13_000, false)).toBe(null);
  expect(due(13_000, true)).toBe("lapsed");
});

test("while a client follows, a failure counts once its results are here: it may be retried", () => {
  const state = failedAt(1000);
  expect(dueOf(notice("failure"), { state, isFollowed: true, isOver: false })).toBe(null);
});

test("an attempt that was overtaken may be on its machine still: the batch is at its end without it", () => {
  const state = initialState({ jobs: someJobs(1), machines: ["a", "b"], policy: POLICY });
  const about = { job: 1, attempt: 2, machine: "b", at: 0 };
  const events: RunEvent[] = [
    assigned("a", [1]),
    { kind: "jobs-handed-over", at: 0, machine: "a", jobs: [1] },
    { kind: "machine-lost", at: 0, machine: "a", reason: "gone" },
    { kind: "jobs-reassigned", at: 0, machine: "a", jobs: [1] },
    assigned("b", [1]),
    { kind: "job-started", slot: 0, ...about },
    { kind: "job-ended", outcome: FAILURE, durationMs: 0, ...about },
  ];
  const atEnd = events.map((event) => {
    apply(state, event);
    return isAtEnd(state);
  });
  expect(atEnd).toEqual([false, false, false, true, false, false, true]);
});
