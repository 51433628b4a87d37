import { expect, test } from "vitest";
import { farewellLines, noticeFarewell } from "../../../../src/cli/terminal/farewell.js";

const NOTHING = { running: 0, stopping: 0, queued: 0, unsent: 0, ended: 0 };

test.each([
  [{ running: 3 }, ["3 jobs continue without you; sshoal attach follows them"]],
  [{ running: 1 }, ["1 job continues without you; sshoal attach follows it"]],
  [
    { running: 6, queued: 11 },
    [
      "6 jobs continue without you; sshoal attach follows them",
      "11 more wait on the machines and begin there",
    ],
  ],
  [{ queued: 2 }, ["2 jobs wait on the machines and begin without you; sshoal attach follows them"]],
  [
    { running: 1, unsent: 4 },
    [
      "1 job continues without you; sshoal attach follows it",
      "4 jobs wait for you: the same command resumes the batch",
    ],
  ],
  [{ stopping: 2 }, ["2 jobs are being stopped; sshoal attach collects the results"]],
  [{ ended: 1 }, ["no job runs any more; sshoal attach collects 1 result"]],
])("%j", (left, lines) => expect(farewellLines({ ...NOTHING, ...left }, "sshoal attach")).toEqual(lines));

const RUNS = "the command of --notify runs when an sshoal command learns of";

test.each([
  [{ command: "x", on: "end" as const }, [`${RUNS} the end; to wait for it: setsid sshoal wait &`]],
  [{ command: "x", on: "failure" as const }, [`${RUNS} a failure; to wait for it: setsid sshoal wait &`]],
  [{ command: "", on: "end" as const }, []],
  [null, []],
])("a notice %j", (notice, lines) => expect(noticeFarewell(notice, "sshoal wait")).toEqual(lines));
