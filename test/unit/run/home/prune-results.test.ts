import { readdirSync } from "node:fs";
import { rm } from "node:fs/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ResultPruner } from "../../../../src/run/home/prune-results.js";
import { Results } from "../../../../src/run/home/results.js";
import { makeWorkspace, type Workspace } from "../../../rig/workspace.js";

const JOB = "jobs.sh.7";

let work: Workspace;
let results: Results;

beforeEach(async () => {
  work = await makeWorkspace();
  results = new Results(work.dir);
  await results.prepare();
});
afterEach(() => work.remove());

const none = () => false;
const there = () => readdirSync(results.dir).filter((name) => name !== ".sshoal");

async function generation(name: string): Promise<void> {
  await work.write(`job_results/${name}/deep/model`, "x".repeat(5000));
  await work.write(`job_results/${name}.out`, "said");
}

test("the newest of each series stay, with what is in place and what is of other jobs", async () => {
  for (const name of [JOB, `${JOB}.old-9`, `${JOB}.old-10`, `${JOB}.old-2`, `${JOB}.again-2`])
    await generation(name);
  for (const name of ["jobs.sh.70.old-1", "jobs.sh.7.old-2x", `${JOB}.old-2.again-3`]) await generation(name);
  await work.write(`job_results/${JOB}.out.old-1`, "half");
  await work.write(`job_results/${JOB}.out.old-2`, "half");
  const pruner = new ResultPruner(results, "batch", 1);
  await pruner.prune(JOB, none);
  expect(there()).toEqual(
    [
      ...[JOB, `${JOB}.old-10`, `${JOB}.again-2`].flatMap((name) => [name, `${name}.out`]),
      ...["jobs.sh.70.old-1", "jobs.sh.7.old-2x", `${JOB}.old-2.again-3`].flatMap((name) => [
        name,
        `${name}.out`,
      ]),
      `${JOB}.out.old-2`,
    ].sort(),
  );
  expect(pruner.removed.count).toBe(3);
  expect(pruner.removed.bytes).toBeGreaterThan(10_000);
  expect(readdirSync(`${results.privateDir}/incoming/batch`)).toEqual([]);
});

test("0 leaves none, and a number is not given twice", async () => {
  for (const name of [JOB, `${JOB}.old-1`, `${JOB}.old-2`]) await generation(name);
  await new ResultPruner(results, "batch", 0).prune(JOB, none);
  expect(there()).toEqual([JOB, `${JOB}.out`]);
  await generation(`${JOB}.old-4`);
  expect(new Results(work.dir).moveAside(JOB)).toBe(`${JOB}.old-5`);
});

test("what is needed stays, however old it is", async () => {
  for (const name of [JOB, `${JOB}.old-1`, `${JOB}.old-2`]) await generation(name);
  const pruner = new ResultPruner(results, "batch", 0);
  await pruner.prune(JOB, (name) => name === `${JOB}.old-1`);
  expect(there()).toEqual([JOB, `${JOB}.old-1`, `${JOB}.old-1.out`, `${JOB}.out`]);
});

test("the results of a batch with such a name stay", async () => {
  for (const name of ["x", "x.old-1", "x.old-2"]) await generation(name);
  await work.write("job_results/.sshoal/x.old-1.jsonl", "");
  await new ResultPruner(results, "batch", 0).prune("x", none);
  expect(there()).toEqual(["x", "x.old-1", "x.old-1.out", "x.out"]);
});

test("what was removed meanwhile is no error; what the disk refuses to move is", async () => {
  for (const name of [JOB, `${JOB}.old-1`, `${JOB}.old-2`]) await generation(name);
  expect(results.series.get(`${JOB}.old-`)?.size).toBe(2);
  for (const name of [`${JOB}.old-1`, `${JOB}.old-1.out`])
    await rm(work.path("job_results", name), { recursive: true });
  const pruner = new ResultPruner(results, "batch", 1);
  await pruner.prune(JOB, none);
  expect(pruner.removed).toEqual({ count: 0, bytes: 0 });
  await work.write("job_results/.sshoal/incoming", "in the way");
  await expect(new ResultPruner(results, "batch", 0).prune(JOB, none)).rejects.toThrow();
  expect(there()).toContain(`${JOB}.old-2`);
});
