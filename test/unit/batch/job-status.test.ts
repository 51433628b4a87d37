import { expect, test } from "vitest";
import { foldLog } from "../../../src/batch/find/refresh.js";
import { jobStatuses } from "../../../src/batch/job-status.js";
import { machineToAsk } from "../../../src/batch/output/job-output.js";
import type { RunEvent } from "../../../src/model/event.js";
import { apply } from "../../../src/plan/fold/apply.js";
import { initialState } from "../../../src/plan/fold/initial-state.js";
import { parseSpoolEvent } from "../../../src/remote/spool/spool-event.js";
import { assigned, FAILURE, SUCCESS, someJobs } from "../report/builders.js";

const HELD = { pid: 1, startedAt: "1", host: "here" };
const SOME_POLICY = { retries: 0, retriesFailures: false, reassignAfterMs: null };

/** The record of a client that has left. */
function aBatch(...events: RunEvent[]) {
  const jobs = someJobs(4);
  const state = initialState({ jobs, machines: ["one.yaml", "two.yaml"], policy: SOME_POLICY });
  for (const event of events) apply(state, event);
  return { jobs, state, stuck: new Map<string, string>() };
}

function logOf(...lines: string[]) {
  return lines.flatMap((line) => parseSpoolEvent(line, { boot: "5b2c1d3e", bootedAt: 100_000 }) ?? []);
}

const handedOver = (machine: string, jobs: number[]): RunEvent => ({
  kind: "jobs-handed-over",
  at: 0,
  machine,
  jobs,
});

test("the log of a machine has what its last client could not know", () => {
  const batch = aBatch(assigned("one.yaml", [1, 2, 3]), handedOver("one.yaml", [1, 2, 3]));
  foldLog(
    batch,
    "one.yaml",
    logOf(
      "waiting 0 memory: 1 MB wanted",
      "started 5000000000001-1-1 0 6000 5b2c1d3e",
      "ended 5000000000001-1-1 0 1 1500",
      "started 5000000000002-2-1 1 6150 5b2c1d3e",
      "torn 00",
    ),
  );
  const begun = { machine: "one.yaml", attempt: 1, isHere: false };
  const times = { startedAt: null, elapsedMs: null };
  const unbegun = { state: "waiting", slot: null, attempt: 0, outcome: null, isHere: false, ...times };
  expect(jobStatuses(batch, 173_500)).toEqual([
    {
      job: 1,
      name: "batch.sh.1",
      line: 1,
      state: "failed",
      ...begun,
      key: "5000000000001-1-1",
      slot: 0,
      startedAt: 160_000,
      elapsedMs: 1500,
      outcome: FAILURE,
    },
    {
      job: 2,
      name: "batch.sh.2",
      line: 2,
      state: "running",
      ...begun,
      key: "5000000000002-2-1",
      slot: 1,
      startedAt: 161_500,
      elapsedMs: 12_000,
      outcome: null,
    },
    { job: 3, name: "batch.sh.3", line: 3, machine: "one.yaml", key: "5000000000003-3-1", ...unbegun },
    { job: 4, name: "batch.sh.4", line: 4, machine: null, key: null, ...unbegun },
  ]);
});

test("news of overtaken attempts changes nothing", () => {
  const batch = aBatch(
    assigned("one.yaml", [1]),
    { kind: "jobs-taken-back", at: 0, machine: "one.yaml", jobs: [1], begun: [] },
    assigned("two.yaml", [1]),
  );
  foldLog(batch, "one.yaml", logOf("started 5000000000001-1-1 0", "ended 5000000000001-1-1 0 0 10"));
  expect(jobStatuses(batch, 0)[0]).toMatchObject({
    state: "waiting",
    machine: "two.yaml",
    attempt: 0,
    slot: null,
  });
});

test("a skipped job is shown where it ran last, and attempts count its runs", () => {
  const batch = aBatch(
    assigned("one.yaml", [2]),
    { kind: "jobs-taken-back", at: 0, machine: "one.yaml", jobs: [2], begun: [] },
    assigned("two.yaml", [2]),
  );
  foldLog(batch, "two.yaml", logOf("started 5000000000002-2-2 5", "ended 5000000000002-2-2 5 0 10"));
  const about = { job: 2, attempt: 2, machine: "two.yaml", outcome: SUCCESS, at: 0 };
  apply(batch.state, { kind: "job-collected", files: 1, bytes: 1, ...about });
  const collected = jobStatuses(batch, 0)[1];
  expect(collected).toMatchObject({
    state: "succeeded",
    isHere: true,
    machine: "two.yaml",
    slot: 5,
    attempt: 1,
    outcome: SUCCESS,
  });
  apply(batch.state, { kind: "job-skipped", at: 0, job: 2, outcome: SUCCESS });
  expect(jobStatuses(batch, 0)[1]).toEqual(collected);
});

test("results without a record are shown as skipped and local", () => {
  const batch = aBatch({ kind: "job-skipped", at: 0, job: 1, outcome: null });
  expect(jobStatuses(batch, 0)[0]).toMatchObject({
    state: "skipped",
    isHere: true,
    machine: null,
    attempt: 0,
  });
});

test("output is read from the machine only if no client brings it home", () => {
  const batch = { ...aBatch(assigned("one.yaml", [1, 2]), handedOver("one.yaml", [1])), holder: null };
  expect(machineToAsk(batch, 1)).toBe("one.yaml");
  expect(machineToAsk({ ...batch, holder: HELD }, 1)).toBe(null);
  // Assigned to the machine, but its client was killed before the hand-over.
  expect(machineToAsk(batch, 2)).toBe(null);
  expect(machineToAsk(batch, 3)).toBe(null);
});
