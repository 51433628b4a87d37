import { utimesSync } from "node:fs";
import { afterEach, beforeEach, expect, test } from "vitest";
import { loadLastWords, loadLatestWords } from "../../../../src/batch/output/last-words.js";
import { Results } from "../../../../src/run/home/results.js";
import { makeWorkspace, type Workspace } from "../../../rig/workspace.js";

let work: Workspace;
beforeEach(async () => {
  work = await makeWorkspace();
});
afterEach(() => work.remove());

async function print(stream: "out" | "err", text: string, seconds: number): Promise<void> {
  utimesSync(await work.write(`job_results/j.1.${stream}`, text), seconds, seconds);
}

test("why a job failed is in stderr, how far one is in what was written last", async () => {
  const results = new Results(work.dir);
  await print("err", "warning\n", 1000);
  await print("out", "epoch 2\n", 2000);
  expect(loadLastWords(results, "j.1")).toBe("warning\n");
  expect(loadLatestWords(results, "j.1")).toBe("epoch 2\n");
  await print("err", "error\n", 3000);
  expect(loadLatestWords(results, "j.1")).toBe("error\n");
  await print("err", "\n", 3000);
  expect(loadLastWords(results, "j.1")).toBe("epoch 2\n");
  expect(loadLatestWords(results, "j.1")).toBe("epoch 2\n");
});

test("a job without output has no words", () => {
  const results = new Results(work.dir);
  expect([loadLastWords(results, "j.2"), loadLatestWords(results, "j.2")]).toEqual(["", ""]);
});
