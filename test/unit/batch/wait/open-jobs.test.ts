import { expect, test } from "vitest";
import { OpenJobs } from "../../../../src/batch/wait/open-jobs.js";
import type { RunEvent } from "../../../../src/model/event.js";
import { apply } from "../../../../src/plan/fold/apply.js";
import { initialState } from "../../../../src/plan/fold/initial-state.js";
import { replay } from "../../../../src/plan/fold/replay.js";
import { parseSpoolEvent } from "../../../../src/remote/spool/spool-event.js";
import { assigned, someJobs } from "../../report/builders.js";

const POLICY = { retries: 0, retriesFailures: false, reassignAfterMs: null };
const keyOf = (job: number) => `500000000000${job}-${job}-1`;
const ended = (job: number, code = 0) =>
  parseSpoolEvent(`ended ${keyOf(job)} 0 ${code} 10`) ?? { kind: "overlong" };

/** What a client that has left had recorded. */
function aBatch(...events: RunEvent[]) {
  const state = initialState({ jobs: someJobs(4), machines: ["a", "b"], policy: POLICY });
  replay(state, events);
  return { state };
}

const handedOver = (machine: string, jobs: number[]): RunEvent => ({
  kind: "jobs-handed-over",
  at: 0,
  machine,
  jobs,
});

test("it is settled when every job has ended", () => {
  const batch = aBatch(assigned("a", [1, 2]), handedOver("a", [1, 2]));
  const open = new OpenJobs(batch, [1, 2]);
  expect([...open.places]).toEqual([["a", []]]);
  open.take("a", [ended(1)]);
  expect(open.isSettled).toBe(false);
  // Of another machine, or of an attempt that does not count.
  open.take("b", [ended(2)]);
  expect(open.isSettled).toBe(false);
  open.take("a", [ended(2, 1)]);
  expect(open.isSettled).toBe(true);
  expect(open.reasons.size).toBe(0);
});

test("a job that no machine has will not run without a client", () => {
  const open = new OpenJobs(aBatch(assigned("a", [1])), [1, 3]);
  expect([...open.reasons.keys()]).toEqual([3]);
  expect([...open.places]).toEqual([["a", [keyOf(1)]]]);
  expect(open.isSettled).toBe(false);
  // Of another machine, and an earlier attempt that was taken back.
  open.noteMissing("b", [keyOf(1)]);
  open.noteMissing("a", [`${keyOf(1).slice(0, -1)}0`, keyOf(2)]);
  expect(open.isSettled).toBe(false);
  open.noteMissing("a", [keyOf(1)]);
  expect(open.isSettled).toBe(true);
  expect(open.reasons.get(1)).toBe("no client follows the batch");
});

test("a job that is left out will not run, with a client or without", () => {
  const reasons = [{ machine: "a", reason: "licence: a job needs 1, the machine has 0.5" }];
  const open = new OpenJobs(aBatch({ kind: "jobs-left-out", at: 0, jobs: [2], reasons }), [2, 3]);
  expect([...open.reasons]).toEqual([
    [2, "no machine can ever meet the need"],
    [3, "no client follows the batch"],
  ]);
});

test("where nothing more happens, what is open there does not end; the first reason counts", () => {
  const open = new OpenJobs(aBatch(assigned("a", [1, 2]), assigned("b", [3])), [1, 2, 3]);
  open.noteMissing("a", [keyOf(2)]);
  open.giveUp("a", "rebooted");
  expect(open.isSettled).toBe(false);
  expect(open.reasons.get(1)).toBe("rebooted");
  expect(open.reasons.get(2)).toMatch(/^no client/);
  open.take("b", [ended(3)]);
  expect(open.isSettled).toBe(true);
});

test("a job that ends after all is not open", () => {
  const open = new OpenJobs(aBatch(assigned("a", [1])), [1]);
  open.giveUp("a", "rebooted");
  open.take("a", [ended(1)]);
  expect([open.isSettled, open.reasons.size]).toEqual([true, 0]);
});

test("jobs that had ended, or are not in the batch, are not open", () => {
  const batch = aBatch();
  apply(batch.state, { kind: "job-skipped", at: 0, job: 1, outcome: null });
  expect(new OpenJobs(batch, [1, 99]).isSettled).toBe(true);
});
