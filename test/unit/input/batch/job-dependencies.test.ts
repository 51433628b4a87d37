import { expect, test } from "vitest";
import {
  type AskingJob,
  findDependencies,
  splitJobWords,
} from "../../../../src/input/batch/job-dependencies.js";
import type { Dependency } from "../../../../src/model/job.js";

function asking(
  line: number,
  words: readonly string[] = [],
  label?: string,
  when: Dependency["when"] = "succeeded",
): AskingJob {
  const job = { id: line, line, name: `a.sh.${label ?? line}`, command: "x", ...(label && { label }) };
  return { job, asked: words.length === 0 ? [] : [{ when, words, where: `a.sh:${line - 1}` }] };
}

test("jobs are found by name and by line, also further down in the file", () => {
  const { dependsOn, problems } = findDependencies([
    asking(2, ["last", "4"]),
    asking(4, [], "named"),
    asking(6, ["named", "named"], "last", "ended"),
  ]);
  expect(problems).toEqual([]);
  expect([...dependsOn]).toEqual([
    [
      2,
      [
        { job: 6, when: "succeeded" },
        { job: 4, when: "succeeded" },
      ],
    ],
    [6, [{ job: 4, when: "ended" }]],
  ]);
});

test("each unknown name is a problem, with the nearest one", () => {
  const { problems } = findDependencies([asking(1, [], "prepare"), asking(3, ["prepar", "", "9"])]);
  expect(problems.map(({ message, hint }) => `${message}; ${hint}`)).toEqual([
    "there is no job prepar; did you mean prepare?",
    "a name is missing; write names with one comma between them",
    "there is no job 9; did you mean 3?",
  ]);
});

test("each cycle is one problem; jobs that only wait for a cycle are none", () => {
  const { problems } = findDependencies([
    asking(2, ["4"]),
    asking(4, ["2"]),
    asking(6, ["4"]),
    asking(8, ["8"]),
    asking(10, ["12"]),
    asking(12, ["10"]),
  ]);
  expect(problems.map(({ message }) => message)).toEqual([
    "jobs wait for each other: 2 (a.sh:1) after 4 (a.sh:3) after 2",
    "the job 8 comes after itself",
    "jobs wait for each other: 10 (a.sh:9) after 12 (a.sh:11) after 10",
  ]);
});

test("very many jobs in a chain are read at once", () => {
  const jobs = Array.from({ length: 50_000 }, (_, n) => asking(n + 1, n === 0 ? [] : [`${n}`]));
  expect(findDependencies(jobs).problems).toEqual([]);
});

test("spaces around commas do not matter", () => {
  expect(splitJobWords(["a, b", "c"])).toEqual(["a", "b", "c"]);
});
