// Batch files for a queue: their #@ lines, and the jobs that come after others.

import { describe, expect, test } from "vitest";
import { queuedExitCode } from "../../../../../src/cli/commands/queue/queued-exit-code.js";
import { batchJobs } from "../../../../../src/cli/commands/queue/read-batch-jobs.js";
import type { RawJob } from "../../../../../src/cli/options/queue/job-ask.js";
import { bashAt } from "../../../../../src/input/batch/ask-bash.js";
import { parseBatch } from "../../../../../src/input/batch/batch-file.js";
import type { Outcome } from "../../../../../src/model/job.js";
import type { QueueJob } from "../../../../../src/model/queue.js";

async function asksOf(text: string, typed: Partial<RawJob> = {}) {
  const batch = await parseBatch(text, "jobs.sh", bashAt("bash"));
  const of = { queue: "train", capacity: null, env: {}, cwd: "/w" };
  return batchJobs(batch, { said: typed, typed }, of).map(({ ask }) => ask);
}

test("names become places in the request", async () => {
  const asks = await asksOf("#@ --name prep\na\n#@ --after prep --after-fail 2\nb\n");
  expect(asks.map(({ command }) => command)).toEqual(["a", "b"]);
  expect(asks[0]?.name).toBe("prep");
  expect(asks[1]?.after).toEqual([
    { when: "succeeded", place: 0 },
    { when: "failed", place: 0 },
  ]);
});

test("the command line takes precedence over all jobs, and a job over both", async () => {
  const text = "#@ --num-cpus 2 --timeout 1m\n\na\n#@ --num-cpus 4\nb\n";
  const asks = await asksOf(text, { numCpus: 3, after: ["9"] });
  expect(asks.map(({ need }) => need?.cpus)).toEqual([3, 4]);
  expect(asks.map(({ terms }) => terms?.timeoutSeconds)).toEqual([60, 60]);
  expect(asks.map(({ after }) => after)).toEqual(Array(2).fill([{ when: "succeeded", job: 9 }]));
});

test("a command of several lines is one job", async () => {
  const asks = await asksOf("for i in 1 2; do\n  echo $i\ndone\nb\n");
  expect(asks).toHaveLength(2);
});

describe("mistakes", () => {
  test.each([
    ["#@ --after absent\na\nb\n", "there is no job absent"],
    ["#@ --name x --after y\na\n#@ --name y --after x\nb\n", "jobs wait for each other"],
    ["#@ --kabuki-commands\n\nexecute_remote a\n", "--kabuki-commands cannot be used in a queue"],
    ["#@ --prioritty 3\na\n", "jobs.sh:1"],
  ])("%j", async (text, message) => {
    await expect(asksOf(text)).rejects.toThrow(message);
  });

  test.each([{ name: "x" }, { out: "log" }])("%j is for one job", async (typed) => {
    await expect(asksOf("a\nb\n", typed)).rejects.toThrow("is for one job");
  });
});

describe("the exit code of waiting", () => {
  const ended = (outcome: Outcome | null, state: QueueJob["state"] = "failed") =>
    ({ outcome, state }) as QueueJob;

  test.each([
    [[ended({ kind: "exited", code: 0 }, "succeeded")], 1, 0],
    [[ended({ kind: "exited", code: 7 })], 1, 7],
    [[ended({ kind: "killed", signal: "SIGKILL" })], 1, 137],
    [[ended({ kind: "timed-out" })], 1, 124],
    [[ended(null, "skipped")], 1, 1],
    [[], 1, 1],
    [[], 0, 0],
    [[ended({ kind: "exited", code: 7 }), ended(null, "succeeded")], 2, 1],
    [[ended(null, "succeeded"), ended(null, "succeeded")], 2, 0],
    [[ended(null, "succeeded"), ended(null, "succeeded")], 3, 1],
  ])("%#", (jobs, count, code) => {
    expect(queuedExitCode(jobs, count)).toBe(code);
  });
});
