import { expect, test } from "vitest";
import { nextCommands } from "../../../../src/cli/terminal/next-commands.js";
import { someJobs } from "../../report/builders.js";

const JOBS = someJobs(9);
const [some = null] = JOBS;
const WELL = { failed: [], hasStopped: false, isUnfinished: false, some };

test("after failures: the command for the output of the first one, and the command to retry", () => {
  expect(nextCommands({ ...WELL, failed: JOBS.slice(6) }, true)).toEqual([
    "sshoal logs 7",
    "sshoal retry --failed",
    "sshoal results",
  ]);
});

test("with several batches, each command names its batch", () => {
  const jobs = someJobs(1, { name: "my batch.sh.1" });
  const closing = { failed: jobs, hasStopped: true, isUnfinished: true, some: jobs[0] ?? null };
  expect(nextCommands(closing, false)).toEqual([
    "sshoal logs 'my batch.sh' 1",
    "sshoal retry 'my batch.sh' --failed",
    "sshoal retry 'my batch.sh' --state stopped",
    "sshoal attach 'my batch.sh'",
    "sshoal results 'my batch.sh'",
  ]);
});

test("for waiting jobs the command resumes, for stopped ones it runs them again", () => {
  expect(nextCommands({ ...WELL, isUnfinished: true }, true)).toEqual(["sshoal attach", "sshoal results"]);
  const stopped = nextCommands({ ...WELL, hasStopped: true }, true);
  expect(stopped).toEqual(["sshoal retry --state stopped", "sshoal results"]);
});
