import { expect, test } from "vitest";
import type { DependencyFact } from "../../../../src/model/dependency.js";
import { dependencyWords } from "../../../../src/report/text/dependency-words.js";

const RUNS: DependencyFact = {
  job: 3,
  name: "a.sh.prepare",
  label: "prepare",
  line: 3,
  when: "succeeded",
  state: "running",
  machine: "gpu-1",
  isOver: false,
};

test.each([
  [{}, "waits for job 3 (prepare), which runs on gpu-1"],
  [{ label: "3" }, "waits for job 3, which runs on gpu-1"],
  [{ line: null }, "waits for job prepare, which runs on gpu-1"],
  [{ state: "waiting" as const, machine: null }, "waits for job 3 (prepare), which waits"],
  [{ state: "failed" as const }, "waits for job 3 (prepare), which has ended on gpu-1"],
  [{ state: "failed" as const, isOver: true }, "after job 3 (prepare), which failed"],
  [{ state: "stopped" as const, isOver: true }, "after job 3 (prepare), which was stopped"],
  [{ state: "skipped" as const, isOver: true }, "after job 3 (prepare), which was skipped"],
  [{ state: "lost" as const, isOver: true }, "after job 3 (prepare), which is lost"],
  [
    { when: "failed" as const, state: "succeeded" as const, isOver: true },
    "only after a failure of job 3 (prepare), which succeeded",
  ],
])("%j: %s", (facts, words) => {
  expect(dependencyWords({ ...RUNS, ...facts })).toBe(words);
});

test("names are safe to print", () => {
  expect(dependencyWords({ ...RUNS, machine: "gpu\u001b[2J" })).not.toContain("\u001b");
});
