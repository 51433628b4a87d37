// Wrong clocks, on this computer or on a machine: nothing important depends on them.

import { utimes } from "node:fs/promises";
import { expect, test } from "vitest";
import { LIGHT_NO_GPU, listBelow } from "../rig/batch.js";
import { runCommand } from "../rig/command.js";
import { useMachineWithLedger } from "../rig/one-machine.js";

const { host, ledger } = useMachineWithLedger();

async function run(...jobs: string[]): Promise<void> {
  await ledger.work.write("jobs.sh", jobs.map((job) => `${job}\n`).join(""));
  const args = ["jobs.sh", "--machines", await host.machineFile("max_jobs: 1"), ...LIGHT_NO_GPU];
  const { code, stdout, stderr } = await runCommand(args, { cwd: ledger.work.dir });
  expect(code, stdout + stderr).toBe(0);
}

const results = (line: number) => listBelow(ledger.work.path(`job_results/jobs.sh.${line}`));

test("results with any time stamp are collected, and inputs with any time stamp are not", async () => {
  await ledger.work.write("old.txt", "input\n");
  await ledger.work.write("new.txt", "input\n");
  await ledger.work.write("changed.txt", "input\n");
  await utimes(ledger.work.path("old.txt"), new Date("2001-01-01"), new Date("2001-01-01"));
  await utimes(ledger.work.path("new.txt"), new Date("2035-01-01"), new Date("2035-01-01"));
  await utimes(ledger.work.path("changed.txt"), new Date("2035-01-01"), new Date("2035-01-01"));
  await run(
    "echo made > a; touch -d 2001-01-01 a; echo made > b; touch -d 2035-01-01 b",
    "echo more >> changed.txt; touch -d 2035-01-01 changed.txt",
    "touch -d 2001-01-01 new.txt",
    "cat old.txt new.txt",
  );
  expect([1, 2, 3, 4].map(results)).toEqual([["a", "b"], ["changed.txt"], ["new.txt"], []]);
  expect(await ledger.work.read("job_results/jobs.sh.2/changed.txt")).toBe("input\nmore\n");
});

test("a clock that is set back an hour while a job runs hides none of its results", async () => {
  await ledger.work.write("input.txt", "input\n");
  await ledger.work.write("changed.txt", "input\n");
  await ledger.work.write("lib/deep.txt", "input\n");
  // The slot's stamp is an hour ahead, as if the clock had been set back since.
  const setBack = "touch -d '1 hour' ../began";
  await run(
    `${setBack}; echo made > made.txt; echo more >> changed.txt; mkdir new; echo made > new/made.txt`,
    `${setBack}; mv lib/deep.txt lib/moved.txt; ln -s lib link`,
  );
  expect(results(1)).toEqual(["changed.txt", "made.txt", "new/", "new/made.txt"]);
  expect(results(2)).toEqual(["lib/", "lib/moved.txt", "link"]);
});
