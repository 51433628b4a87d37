import { expect, test } from "vitest";
import { countWords } from "../../../../src/model/batch-status.js";
import type { NoticeFacts } from "../../../../src/model/notice.js";
import { noticeEnv } from "../../../../src/report/lines/notice-env.js";

function facts(changes: Partial<NoticeFacts> = {}): NoticeFacts {
  return {
    on: "end",
    batch: "sweep.sh-4f1d2c9a",
    stem: "sweep.sh",
    directory: "/home/me/vit",
    counts: { ...countWords([]), succeeded: 26, skipped: 1, failed: 2, stopped: 1 },
    leftOut: 0,
    elapsedMs: 1_570_400,
    failedJobs: ["sweep.sh.7", "sweep.sh.12"],
    ...changes,
  };
}

test("every fact in a variable of its own, and all in a line", () => {
  expect(noticeEnv(facts())).toEqual({
    SSHOAL_EVENT: "end",
    SSHOAL_BATCH: "sweep.sh-4f1d2c9a",
    SSHOAL_SCRIPT: "sweep.sh",
    SSHOAL_DIRECTORY: "/home/me/vit",
    SSHOAL_STATE: "failed",
    SSHOAL_SUCCEEDED: "27",
    SSHOAL_FAILED: "2",
    SSHOAL_STOPPED: "1",
    SSHOAL_LOST: "0",
    SSHOAL_UNFINISHED: "0",
    SSHOAL_TOTAL: "30",
    SSHOAL_ELAPSED: "1570",
    SSHOAL_FAILED_JOBS: "sweep.sh.7 sweep.sh.12",
    SSHOAL_SUMMARY: "sweep.sh: 27 succeeded, 2 failed, 1 stopped of 30 in 26m10s",
  });
});

test("a failure is reported while the others run; an end with jobs left waits for a client", () => {
  const counts = { ...countWords([]), succeeded: 1, failed: 1, running: 2 };
  expect(noticeEnv(facts({ on: "failure", counts }))).toMatchObject({
    SSHOAL_EVENT: "failure",
    SSHOAL_STATE: "running",
    SSHOAL_UNFINISHED: "2",
    SSHOAL_SUMMARY: "sweep.sh: sweep.sh.7 failed; 1 succeeded, 1 failed, 2 running of 4 in 26m10s",
  });
  const left = { ...countWords([]), succeeded: 1, waiting: 3 };
  expect(noticeEnv(facts({ counts: left })).SSHOAL_STATE).toBe("waiting");
});

test("jobs that no machine can ever run do not wait for a client", () => {
  const counts = { ...countWords([]), succeeded: 1, waiting: 3 };
  expect(noticeEnv(facts({ counts, leftOut: 3 }))).toMatchObject({
    SSHOAL_STATE: "failed",
    SSHOAL_UNFINISHED: "3",
    SSHOAL_SUMMARY: "sweep.sh: 3 left out, 1 succeeded of 4 in 26m10s",
  });
  expect(noticeEnv(facts({ counts, leftOut: 2 }))).toMatchObject({
    SSHOAL_STATE: "waiting",
    SSHOAL_SUMMARY: "sweep.sh: 2 left out, 1 succeeded, 1 waiting of 4 in 26m10s",
  });
});

test("names cannot pose as other lines", () => {
  const env = noticeEnv(facts({ stem: "a\nb\u001b", failedJobs: ["a\nb.1"] }));
  expect(env.SSHOAL_SUMMARY).toMatch(/^a\\nb\\x1b: /);
  expect(env.SSHOAL_FAILED_JOBS).toBe("a\\nb.1");
});
