import { expect, test } from "vitest";
import { endOf } from "../../../../src/batch/wait/job-end.js";
import type { Stage } from "../../../../src/model/attempt.js";
import { type Fate, type TrackedJob, USUAL_TRAITS } from "../../../../src/model/batch-state.js";
import type { Outcome } from "../../../../src/model/job.js";
import { FAILURE, SUCCESS, someJobs } from "../../report/builders.js";

function aJob(fate: Fate): TrackedJob {
  const [job] = someJobs(1);
  if (job === undefined) throw new Error("no job");
  return { job, fate, earlier: [], lastNumber: 1, traits: USUAL_TRAITS };
}

const tried = (stage: Stage): Fate => ({
  kind: "tried",
  job: 1,
  number: 1,
  rank: null,
  machine: "a",
  isCurrent: true,
  run: 1,
  stage,
});
const ending = (outcome: Outcome) => ({ slot: 0, startedAt: 0, endedAt: 1, durationMs: 1, outcome });
const collected = (outcome: Outcome, isToRetry: boolean): Fate =>
  tried({ kind: "collected", isThere: false, isKept: false, isToRetry, missing: [], ...ending(outcome) });

test.each<[string, Fate, string | null, string | null]>([
  ["waits", { kind: "waiting" }, null, null],
  ["was dropped after Ctrl-C", { kind: "dropped" }, null, null],
  ["was stopped before it began", { kind: "stopped" }, "stopped", "stopped"],
  ["has results of its own", { kind: "skipped", outcome: null }, "skipped", "skipped"],
  ["failed before", { kind: "skipped", outcome: FAILURE }, "failed", "failed"],
  ["waits on its machine", tried({ kind: "queued" }), null, null],
  ["runs", tried({ kind: "running", isStopping: false, slot: 0, startedAt: 0 }), null, null],
  ["ended, and is not here", tried({ kind: "ended", ...ending(SUCCESS) }), null, "succeeded"],
  ["cannot be collected", tried({ kind: "stuck", ...ending(SUCCESS) }), "succeeded", "succeeded"],
  ["succeeded", collected(SUCCESS, false), "succeeded", "succeeded"],
  ["failed, and is to be retried", collected(FAILURE, true), null, "failed"],
  ["is on a machine that was left out", tried({ kind: "unknown" }), "lost", "lost"],
])("a job that %s", (_, fate, followed, alone) => {
  expect([endOf(aJob(fate), true), endOf(aJob(fate), false)]).toEqual([followed, alone]);
});
