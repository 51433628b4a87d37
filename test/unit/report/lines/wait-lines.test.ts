import { expect, test } from "vitest";
import type { BatchStatus, JobStatus } from "../../../../src/model/batch-status.js";
import { initialState } from "../../../../src/plan/fold/initial-state.js";
import { waitedLines, waitingLine } from "../../../../src/report/lines/wait-lines.js";
import { signsOf } from "../../../../src/report/text/signs.js";
import { textWidth } from "../../../../src/report/text/width.js";
import { FAILURE, SUCCESS, someJobs } from "../builders.js";

const LOOK = { signs: signsOf(true), columns: 80, rowColumns: 80 };

function aJob(job: number, facts: Partial<JobStatus>): JobStatus {
  const at = { machine: "gpu1", slot: 0, attempt: 1, startedAt: 0, elapsedMs: 42_000, key: null };
  return {
    job,
    name: `j.sh.${job}`,
    line: job,
    state: "waiting",
    isHere: true,
    outcome: null,
    ...at,
    ...facts,
  };
}

function aStatus(jobs: readonly JobStatus[], facts: Partial<BatchStatus> = {}): BatchStatus {
  const nothing = {
    slots: new Map(),
    spoolFormats: new Map(),
    lastWords: new Map(),
    shortages: new Map(),
    unreached: [],
  };
  const times = { isAtWork: false, elapsedMs: 724_000, timeLeftMs: null };
  const about = { batch: "j.sh-1", stem: "j.sh", directory: "~", follower: null, command: "" };
  return { ...about, jobs, ...nothing, ...times, ...facts };
}

test("how many ended how, and why those failed that did", () => {
  const jobs = [
    aJob(1, { state: "succeeded", outcome: SUCCESS }),
    aJob(2, { state: "failed", outcome: FAILURE }),
    aJob(3, { state: "waiting" }),
  ];
  expect(waitedLines(aStatus(jobs, { lastWords: new Map([[2, "KeyError\n"]]) }), LOOK)).toEqual([
    "j.sh: 1 succeeded, 1 failed, 1 waiting of 3 in 12m04s",
    "STATE   JOB  WHERE  TIME  WHAT",
    "failed    2  gpu1    42s  exit 1: KeyError",
  ]);
});

test("jobs that no machine can ever run do not wait", () => {
  const leftOut = [{ machine: "gpu1", reason: "licence: a job needs 1, the machine has 0.5" }];
  const jobs = [aJob(1, { state: "succeeded", outcome: SUCCESS }), aJob(2, { leftOut }), aJob(3, {})];
  expect(waitedLines(aStatus(jobs), LOOK)).toEqual([
    "j.sh: 1 left out, 1 succeeded, 1 waiting of 3 in 12m04s",
  ]);
});

test.each([
  [[1], null, ["1 result is not collected yet: sshoal attach j.sh"]],
  [[1, 2], null, ["2 results are not collected yet: sshoal attach j.sh"]],
  [[1], "process 7", []],
  [[], null, []],
])("results of %j on machines, followed by %j", (onMachines, follower, last) => {
  const jobs = [1, 2].map((job) =>
    aJob(job, { state: "succeeded", outcome: SUCCESS, isHere: !onMachines.includes(job) }),
  );
  const status = aStatus(jobs, { follower, command: "sshoal attach j.sh" });
  expect(waitedLines(status, LOOK).slice(1)).toEqual(last);
});

test("of many stopped jobs, a few are listed, and those whose results are a problem", () => {
  const jobs = Array.from({ length: 19 }, (_, index) =>
    aJob(index + 1, {
      state: "stopped",
      outcome: { kind: "stopped" },
      ...(index === 18 && { reason: "tar failed" }),
    }),
  );
  expect(waitedLines(aStatus(jobs), LOOK)).toEqual([
    "j.sh: 0 succeeded, 19 stopped of 19 in 12m04s",
    "STATE    JOB  WHERE  TIME  WHAT",
    "stopped   19  gpu1    42s  stopped; not collected: tar failed",
    "stopped    1  gpu1    42s  stopped",
    "stopped    2  gpu1    42s  stopped",
    "stopped    3  gpu1    42s  stopped",
    "… 15 more stopped",
  ]);
});

test("one line while it waits, never wider than the terminal", () => {
  const policy = { retries: 0, retriesFailures: false, reassignAfterMs: null };
  const state = initialState({ jobs: someJobs(4), machines: [], policy });
  const batches = [{ stem: "a\u001b.sh", state }];
  expect(waitingLine(batches, 65_000, LOOK)).toBe("waiting 1m05s for a\\x1b.sh: 0 of 4 ended, 0 running");
  const narrow = waitingLine([...batches, ...batches], 0, { ...LOOK, columns: 40 });
  expect(textWidth(narrow)).toBeLessThanOrEqual(40);
});
