import { expect, test } from "vitest";
import { summaryLines } from "../../../../src/report/lines/summary.js";
import { waitingJobs } from "../../../../src/report/live/waiting-jobs.js";
import { signsOf } from "../../../../src/report/text/signs.js";
import { aView, FAILURE, jobCollected, jobEnded, jobStarted, someJobs, started } from "../builders.js";

test("a job that comes after another one shows which one; if that fails, the summary says so", () => {
  const [first, second] = someJobs(2);
  if (first === undefined || second === undefined) throw new Error("no jobs");
  const jobs = [first, { ...second, dependsOn: [{ job: 1, when: "succeeded" as const }] }];
  const { view, tell } = aView(["a.yaml"], [started(jobs), jobStarted(1, "a.yaml", 0)]);
  expect(waitingJobs(view, 0, 5)).toEqual([
    { job: jobs[1], reason: "waits for job 1, which runs on a.yaml" },
  ]);
  tell(jobEnded(1, FAILURE), jobCollected(1));
  expect(waitingJobs(view, 0, 5)).toEqual([]);
  const lines = summaryLines(view, { signs: signsOf(false), columns: 80 });
  expect(lines[0]).toContain("0 succeeded, 1 failed, 1 skipped in ");
  expect(lines).toContain(`  ${second.name}  after job 1, which failed`);
});
