// The local record is cut off at any byte: it loads, and the batch continues.

import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { LIGHT_NO_GPU, waitFor } from "../rig/batch.js";
import { runCommand, spawnCommand } from "../rig/command.js";
import { useMachineWithLedger } from "../rig/one-machine.js";

const { host, ledger } = useMachineWithLedger();

async function batchArgs(): Promise<string[]> {
  return ["jobs.sh", "--machines", await host.machineFile("max_jobs: 2"), ...LIGHT_NO_GPU, "--json"];
}

const record = () => ledger.work.path("job_results/.sshoal/jobs.sh.jsonl");

/** Cuts this many bytes off its end. */
function cut(bytes: number): void {
  const whole = readFileSync(record());
  writeFileSync(record(), whole.subarray(0, whole.length - bytes));
}

// Within the last line, at its beginning, and within the line before.
for (const bytes of [1, 40, 130, 200]) {
  test(`${bytes} bytes are missing while jobs run: the same command resumes`, async () => {
    await ledger.write(Array.from({ length: 5 }, () => ledger.job(waitFor(ledger.seen.path("go")))));
    const client = spawnCommand(await batchArgs(), { cwd: ledger.work.dir });
    await client.until(({ stdout }) => stdout().split('"kind":"job-started"').length > 2);
    client.child.kill("SIGKILL");
    await client.ended;
    cut(bytes);
    await ledger.seen.write("go", "");
    const { code, stderr } = await runCommand(await batchArgs(), { cwd: ledger.work.dir });
    expect(await ledger.audit([host]), stderr).toEqual([]);
    expect(code).toBe(0);
  });
}

test("its end is missing when all jobs are done: nothing runs again", async () => {
  await ledger.write([ledger.job(), ledger.job(), ledger.job()]);
  expect((await runCommand(await batchArgs(), { cwd: ledger.work.dir })).code).toBe(0);
  for (const bytes of [1, 150, 300]) {
    cut(bytes);
    const { code, stderr } = await runCommand(await batchArgs(), { cwd: ledger.work.dir });
    expect(code, stderr).toBe(0);
  }
  expect(await ledger.audit([host])).toEqual([]);
});

test("all of it is missing when all jobs are done: the results do not change", async () => {
  await ledger.write([ledger.job(), ledger.job(), ledger.job()]);
  expect((await runCommand(await batchArgs(), { cwd: ledger.work.dir })).code).toBe(0);
  rmSync(record());
  const { code, stderr } = await runCommand(await batchArgs(), { cwd: ledger.work.dir });
  expect(code, stderr).toBe(0);
  // No machine had anything to do, so there is nothing to record.
  expect(await ledger.audit([host])).toEqual(["missing in job_results: .sshoal"]);
});
