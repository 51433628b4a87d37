import { expect, test } from "vitest";
import { summaryLines as linesOf } from "../../../../src/report/lines/summary.js";
import type { ViewState } from "../../../../src/report/live/view-state.js";
import { signsOf } from "../../../../src/report/text/signs.js";
import {
  FAILURE,
  jobCollected,
  jobEnded,
  jobStarted,
  ready,
  SUCCESS,
  slotsWith,
  someJobs,
  started,
  unreachable,
  viewOf,
} from "../builders.js";

function summaryLines(view: ViewState, { useUnicode = true, columns = 80 } = {}): string[] {
  return linesOf(view, { signs: signsOf(useUnicode), columns });
}

const RUN_ENDED = {
  kind: "run-ended",
  counts: { succeeded: 0, failed: 0, stopped: 0, lost: 0, unfinished: 0, skipped: 0 },
} as const;

test("counts, wall time, and how each failed job ended, with the last line of its output", () => {
  const jobs = someJobs(12).map((job) => ({ ...job, name: `my.batch.sh.${job.id}` }));
  const view = viewOf(
    ["a.yaml"],
    [
      started(jobs, 1000),
      ready("a.yaml", slotsWith([0], [1])),
      { kind: "job-skipped", at: 1000, job: 1, outcome: SUCCESS },
      { kind: "job-skipped", at: 1000, job: 2, outcome: null },
      ...[3, 4, 5, 6, 7, 8, 11, 12].flatMap((line) => [jobEnded(line), jobCollected(line)]),
      jobStarted(9, "a.yaml", 1),
      jobEnded(9, FAILURE, 42_000),
      jobCollected(9),
      jobStarted(10, "a.yaml", 0),
      jobEnded(10, { kind: "killed", signal: "SIGKILL" }, 238_000),
      jobCollected(10),
      { ...RUN_ENDED, at: 725_000 },
    ],
    { lastWordsOf: ({ id }) => (id === 9 ? "Traceback\n\x1b[31mKeyError: 'pos_embed'\x1b[0m\n\n" : "") },
  );
  expect(summaryLines(view)).toEqual([
    "8 succeeded, 2 failed, 2 skipped in 12m04s",
    "✗  9  exit 1   a.yaml:1    42s  KeyError: 'pos_embed'",
    "✗ 10  SIGKILL  a.yaml:0  3m58s",
    "Next: logs my.batch.sh.9 · results",
  ]);
});

test("a need that is larger than what jobs used, and how many more would run with less", () => {
  const needs = [
    { what: "memory", neededMb: 7000, peakMb: 1830, enoughMb: 2000, times: 3.5 },
    { what: "gpu-memory", neededMb: 16_000, peakMb: 9100, enoughMb: 9900, times: 1.5 },
    { what: "memory", neededMb: 7000, peakMb: 80, enoughMb: 100, times: 61.2 },
  ] as const;
  const view = viewOf(
    ["a.yaml"],
    [started(someJobs(1), 1000), jobEnded(1), jobCollected(1), { ...RUN_ENDED, needs, at: 725_000 }],
  );
  expect(summaryLines(view)).toEqual([
    "1 succeeded, 0 failed in 12m04s",
    "Memory: need 7000 MB, peak 1830; 2000 would let three times as many run",
    "GPU memory: need 16000 MB, peak 9100; 9900 would let 1.5 times as many run",
    "Memory: need 7000 MB, peak 80; 100 would let 61 times as many run",
  ]);
});

test("stopped and lost jobs are distinguished from failed ones, also without Unicode", () => {
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
  expect(summaryLines(view, { useUnicode: false })).toEqual([
    "0 succeeded, 1 failed, 1 stopped, 1 lost in 0s",
    "x 2  exit 1   a.yaml  1s",
    "? 3  lost     a.yaml  1s  reboot",
    "# 1  stopped  a.yaml  1s",
    "Next: logs batch.sh.2, results",
  ]);
});

test("a job that ran out of GPU memory is marked", () => {
  const said = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.50 GiB. GPU 0 has 24 GiB";
  const events = [started(someJobs(1)), jobEnded(1, FAILURE), jobCollected(1)];
  const view = viewOf(["a.yaml"], events, { lastWordsOf: () => said });
  expect(summaryLines(view)[1]).toBe(
    "✗ 1  GPU memory  a.yaml  1s  Tried to allocate 2.50 GiB. GPU 0 has 24 GiB",
  );
});

test("skipped jobs that failed before are marked", () => {
  const view = viewOf([], [started(someJobs(1)), { kind: "job-skipped", at: 0, job: 1, outcome: FAILURE }]);
  expect(summaryLines(view)[0]).toBe("0 succeeded, 0 failed, 1 skipped (1 of them failed before) in 0s");
});

test("unfinished jobs are listed separately", () => {
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
    "Next: attach · results",
  ]);
});

test("jobs that no machine can ever run are listed with the reason, and are not unfinished", () => {
  const reasons = [{ machine: "a.yaml", reason: "licence: a job needs 1, the machine has 0.5" }];
  const requirement = { cpus: 1, memoryMb: 1, gpu: null, reservesMachine: false };
  const jobs = someJobs(2).map((job) => (job.id === 2 ? { ...job, requirement } : job));
  const view = viewOf(
    ["a.yaml"],
    [started(jobs), ready("a.yaml", slotsWith([0])), { kind: "jobs-left-out", at: 0, jobs: [2], reasons }],
  );
  expect(summaryLines(view).slice(0, 3)).toEqual([
    "0 succeeded, 0 failed, 1 left out, 1 unfinished in 0s",
    "left-out jobs, which no machine can ever run:",
    "  batch.sh.2  a.yaml: licence: a job needs 1, the machine has 0.5",
  ]);
});

test("next commands that do not fit into one row have a row each", () => {
  const view = viewOf(["a.yaml"], [started(someJobs(2)), jobStarted(1, "a.yaml", 0)]);
  expect(summaryLines(view, { columns: 20 }).slice(-2)).toEqual(["Next: attach", "      results"]);
});

test("jobs of a machine that was left out are lost", () => {
  const view = viewOf(["a.yaml"], [started(someJobs(1)), jobStarted(1, "a.yaml", 0), unreachable("a.yaml")]);
  expect(summaryLines(view)).toEqual([
    "0 succeeded, 0 failed, 1 unfinished in 0s",
    "unfinished jobs:",
    "  1 lost: their machine was left out, or no longer has them",
    "Next: attach · results",
  ]);
});

test("at most twenty failed jobs are listed", () => {
  const view = viewOf(
    [],
    [started(someJobs(51)), ...someJobs(51).flatMap(({ id }) => [jobEnded(id, FAILURE), jobCollected(id)])],
  );
  const lines = summaryLines(view);
  expect(lines).toHaveLength(1 + 20 + 1 + 1);
  expect(lines.at(-2)).toBe("… and 31 more: sshoal status lists them");
  expect(summaryLines(view, { useUnicode: false }).at(-2)).toBe("... and 31 more: sshoal status lists them");
});

test("stopped jobs do not push failed ones off the screen", () => {
  const stopped = Array.from({ length: 19 }, (_, index) => index + 2);
  const view = viewOf(
    ["a.yaml"],
    [
      started(someJobs(20)),
      jobEnded(1, FAILURE),
      jobCollected(1),
      ...stopped.flatMap((line) => [jobEnded(line, { kind: "stopped" }), jobCollected(line)]),
      { ...RUN_ENDED, at: 0 },
    ],
  );
  const lines = summaryLines(view);
  expect(lines.filter((line) => line.includes("  stopped  "))).toHaveLength(3);
  expect(lines.filter((line) => line.includes("  exit 1  "))).toHaveLength(1);
  expect(lines).toContain("… and 16 more stopped");
});

test("lines fit 80 columns if the names allow it", () => {
  const reason = "the machine rebooted while the job was running, at an unknown time";
  const view = viewOf([], [started(someJobs(1)), jobEnded(1, { kind: "lost", reason }), jobCollected(1)]);
  expect(summaryLines(view)[1]).toBe(
    "? 1  lost  a.yaml  1s  the machine rebooted while the job was running, at an un…",
  );
});

test("a very long name does not hide how its job ended", () => {
  const name = `${"long".repeat(30)}.1`;
  const view = viewOf([], [started(someJobs(1, { name })), jobEnded(1, FAILURE), jobCollected(1)]);
  expect(summaryLines(view)[1]).toBe("✗ 1  exit 1  a.yaml  1s");
});

test("names cannot contain escape sequences", () => {
  const view = viewOf(
    [],
    [started(someJobs(1, { name: "\x1b[2Jx.1" })), jobEnded(1, FAILURE), jobCollected(1)],
  );
  expect(summaryLines(view).join("")).not.toContain("\x1b");
});

test("a run that never began has no summary", () => {
  expect(summaryLines(viewOf(["a.yaml"], []))).toEqual([]);
});

test("results with a part still on a machine are named, with what to do", () => {
  const missing = ["a", "b/", "c", "d"];
  const incomplete = [{ job: 1, attempt: 1, machine: "a.yaml", missing }];
  const view = viewOf(
    ["a.yaml"],
    [started(someJobs(1)), jobEnded(1), jobCollected(1), { ...RUN_ENDED, at: 0, incomplete }],
  );
  expect(summaryLines(view)).toEqual([
    "1 succeeded, 0 failed in 0s",
    "incomplete results:",
    "  job_results/batch.sh.1  incomplete, still on a.yaml: a, b/, c and 1 more",
    "  make these files readable on the machine, then type the same command again",
  ]);
});
