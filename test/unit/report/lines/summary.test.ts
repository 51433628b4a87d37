import { expect, test } from "vitest";
import { summaryLines } from "../../../../src/report/lines/summary.js";
import {
  FAILURE,
  jobCollected,
  jobEnded,
  jobStarted,
  SUCCESS,
  someJobs,
  started,
  unreachable,
  viewOf,
} from "../builders.js";

const RUN_ENDED = {
  kind: "run-ended",
  counts: { succeeded: 0, failed: 0, stopped: 0, lost: 0, unfinished: 0, skipped: 0 },
} as const;

test("counts, wall time, and where the failed jobs left their errors", () => {
  const view = viewOf(
    ["a.yaml"],
    [
      started(someJobs(12), 1000),
      { kind: "job-skipped", at: 1000, job: 1, outcome: SUCCESS },
      { kind: "job-skipped", at: 1000, job: 2, outcome: null },
      ...[3, 4, 5, 6, 7, 8, 11, 12].flatMap((line) => [jobEnded(line), jobCollected(line)]),
      jobEnded(9, FAILURE),
      jobCollected(9),
      jobEnded(10, { kind: "killed", signal: "SIGKILL" }),
      jobCollected(10),
      { ...RUN_ENDED, at: 725_000 },
    ],
  );
  expect(summaryLines(view)).toEqual([
    "8 succeeded, 2 failed, 2 skipped in 12m 04s",
    "failed jobs:",
    "  job_results/batch.sh.9.err   exit code 1",
    "  job_results/batch.sh.10.err  killed by SIGKILL",
  ]);
});

test("jobs that were stopped or lost are not listed as failed", () => {
  const view = viewOf(
    [],
    [
      started(someJobs(3)),
      jobEnded(1, { kind: "stopped" }),
      jobCollected(1),
      jobEnded(2, FAILURE),
      jobCollected(2),
      jobEnded(3, { kind: "lost", reason: "reboot" }),
      jobCollected(3),
    ],
  );
  expect(summaryLines(view)).toEqual([
    "0 succeeded, 1 failed, 1 stopped, 1 lost in 0s",
    "failed jobs:",
    "  job_results/batch.sh.2.err  exit code 1",
    "stopped jobs:",
    "  job_results/batch.sh.1.err  stopped",
    "lost jobs:",
    "  job_results/batch.sh.3.err  lost: reboot",
  ]);
});

test("jobs that are skipped though they failed are pointed out", () => {
  const view = viewOf([], [started(someJobs(1)), { kind: "job-skipped", at: 0, job: 1, outcome: FAILURE }]);
  expect(summaryLines(view)[0]).toBe("0 succeeded, 0 failed, 1 skipped (1 of them failed before) in 0s");
});

test("unfinished jobs are told apart", () => {
  const view = viewOf(
    ["a.yaml"],
    [started(someJobs(5)), jobStarted(1, "a.yaml", 0), jobStarted(2, "a.yaml", 1), jobEnded(2)],
  );
  expect(summaryLines(view)).toEqual([
    "0 succeeded, 0 failed, 5 unfinished in 0s",
    "unfinished jobs:",
    "  batch.sh.1  running on a.yaml when last seen",
    "  3 waiting",
    "  1 ended, results not collected yet",
  ]);
});

test("jobs of a machine that was left out are lost", () => {
  const view = viewOf(["a.yaml"], [started(someJobs(1)), jobStarted(1, "a.yaml", 0), unreachable("a.yaml")]);
  expect(summaryLines(view)).toEqual([
    "0 succeeded, 0 failed, 1 unfinished in 0s",
    "unfinished jobs:",
    "  1 lost: their machine was left out, or has them no more",
  ]);
});

test("no more than twenty failed jobs are listed", () => {
  const view = viewOf(
    [],
    [started(someJobs(51)), ...someJobs(51).flatMap(({ id }) => [jobEnded(id, FAILURE), jobCollected(id)])],
  );
  const lines = summaryLines(view);
  expect(lines).toHaveLength(1 + 1 + 20 + 1);
  expect(lines.at(-1)).toBe("  … and 31 more: see job_results/");
  expect(summaryLines(view, "...").at(-1)).toBe("  ... and 31 more: see job_results/");
});

test("lines fit 80 columns where the names allow it", () => {
  const reason = "the machine rebooted while the job was running, at a time that nobody can tell any more";
  const view = viewOf([], [started(someJobs(1)), jobEnded(1, { kind: "lost", reason }), jobCollected(1)]);
  expect(summaryLines(view)[2]).toBe(
    "  job_results/batch.sh.1.err  lost: the machine rebooted while the job was runn…",
  );
});

test("a very long name keeps how its job ended", () => {
  const name = `${"long".repeat(30)}.1`;
  const view = viewOf([], [started(someJobs(1, { name })), jobEnded(1, FAILURE), jobCollected(1)]);
  expect(summaryLines(view)[2]).toBe(`  job_results/${name}.err  exit code 1`);
});

test("names cannot smuggle escape sequences", () => {
  const view = viewOf(
    [],
    [started(someJobs(1, { name: "\x1b[2Jx.1" })), jobEnded(1, FAILURE), jobCollected(1)],
  );
  expect(summaryLines(view).join("")).not.toContain("\x1b");
});

test("a run that never began has nothing to sum up", () => {
  expect(summaryLines(viewOf(["a.yaml"], []))).toEqual([]);
});

test("results of which something is still on a machine are named, with what to do about it", () => {
  const missing = ["a", "b/", "c", "d"];
  const incomplete = [{ job: 1, attempt: 1, machine: "a.yaml", missing }];
  const view = viewOf(
    ["a.yaml"],
    [started(someJobs(1)), jobEnded(1), jobCollected(1), { ...RUN_ENDED, at: 0, incomplete }],
  );
  expect(summaryLines(view)).toEqual([
    "1 succeeded, 0 failed in 0s",
    "incomplete results:",
    "  job_results/batch.sh.1  without what a.yaml keeps: a, b/, c and 1 more",
    "  make these files readable there, then type the same command again",
  ]);
});
