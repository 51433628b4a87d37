import { cpSync } from "node:fs";
import { afterEach, beforeEach, expect, test } from "vitest";
import { loadBatches } from "../../../../src/batch/find/batches-here.js";
import { knownBatches, knownDrainable, knownJobs } from "../../../../src/batch/name/known-jobs.js";
import { Results } from "../../../../src/run/home/results.js";
import { makeWorkspace, type Workspace } from "../../../rig/workspace.js";

let work: Workspace;
let results: Results;
beforeEach(async () => {
  work = await makeWorkspace();
  results = new Results(work.dir);
});
afterEach(() => work.remove());

const words = (known: readonly { word: string }[]) => known.map(({ word }) => word);

function keepRecord(stem: string): void {
  cpSync("test/records/v1-every-kind.jsonl", `${results.privateDir}/${stem}.jsonl`);
}

test("no batch was ever run", () => {
  expect([...knownBatches(results), ...knownJobs(results, ""), ...knownDrainable(results)]).toEqual([]);
  const hint = expect.stringContaining("sshoal status --all");
  expect(() => loadBatches(results)).toThrow(expect.objectContaining({ hint }));
});

test("batches, and the jobs of each with their state", () => {
  keepRecord("jobs.sh");
  expect(knownBatches(results)).toEqual([{ word: "jobs.sh", about: "batch" }]);
  const jobs = knownJobs(results, "");
  expect(jobs[0]).toEqual({ word: "jobs.sh", about: "batch" });
  expect(jobs.length).toBeGreaterThan(1);
  for (const { word, about } of jobs.slice(1)) {
    expect(word).toMatch(/\.\d+$/);
    expect(about).toMatch(/^(succeeded|failed|stopped|lost|skipped|running|waiting): /);
  }
});

test("numbers once a digit is typed, unless two batches have them", () => {
  keepRecord("jobs.sh");
  const numbers = words(knownJobs(results, "1"));
  expect(numbers).toContain("1");
  expect(numbers.every((word) => /^\d+$/.test(word))).toBe(true);
  keepRecord("more.sh");
  expect(knownJobs(results, "1")).toEqual([]);
});

test("a record that is damaged, or of a newer version, has no jobs, and hides none", async () => {
  keepRecord("jobs.sh");
  const before = words(knownJobs(results, ""));
  await work.write("job_results/.sshoal/bad.jsonl", "{}\nnothing\n");
  await work.write("job_results/.sshoal/newer.jsonl", '{"v":99,"kind":"run-started"}\n');
  expect(words(knownJobs(results, "")).sort()).toEqual([...before, "bad", "newer"].sort());
});
