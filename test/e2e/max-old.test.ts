// `--max-old`: of the earlier results of a job only the newest stay, and only once newer ones are in place.

import { readdirSync } from "node:fs";
import { rm } from "node:fs/promises";
import { expect, test } from "vitest";
import { parseEvents, waitFor } from "../rig/batch.js";
import { runCommand, spawnCommand } from "../rig/command.js";
import { useOwnHome } from "../rig/own-home.js";
import { until } from "../rig/until.js";

const own = useOwnHome();
const options = () => ({ cwd: own.work.dir, home: own.home.dir });
const ARGS = ["jobs.sh", "--no-gpu-required", "--memory-required", "1"];
const there = () =>
  readdirSync(own.work.path("job_results")).filter((name) => !/^\.|\.(out|err)$/.test(name));

/** Runs all jobs again. Resolves with what went to stderr. */
async function again(...extra: string[]): Promise<string> {
  const { code, stdout, stderr } = await runCommand([...ARGS, "--rerun", "all", ...extra], options());
  expect(code, stdout + stderr).toBe(0);
  return stderr;
}

test("by default all stay; then the oldest go, one line reports it, and numbers go on", async () => {
  await own.work.write("counter", "");
  await own.work.write("jobs.sh", "echo >> counter; wc -l < counter\ntrue\n");
  for (let run = 0; run < 4; run++) await again();
  expect(there()).toEqual(
    ["jobs.sh.1", "jobs.sh.2"].flatMap((name) => [name, `${name}.old-1`, `${name}.old-2`, `${name}.old-3`]),
  );
  expect(await again("--max-old", "2")).toMatch(/^removed 4 earlier results \(--max-old\): [\d.]+ kB$/m);
  expect(there()).toEqual(
    ["jobs.sh.1", "jobs.sh.2"].flatMap((name) => [name, `${name}.old-3`, `${name}.old-4`]),
  );
  expect(await own.work.read("job_results/jobs.sh.1.old-4.out")).toBe("4\n");
  const { stdout } = await runCommand([...ARGS, "--rerun", "all", "--max-old", "1", "--json"], options());
  expect(parseEvents(stdout).find(({ kind }) => kind === "old-results-removed")?.count).toBe(4);
  expect(there()).toEqual(["jobs.sh.1", "jobs.sh.1.old-5", "jobs.sh.2", "jobs.sh.2.old-5"]);
});

test("a batch file says so for all; later commands keep to it", async () => {
  await own.work.write("jobs.sh", "#@ --max-old 0\n\ntrue\n");
  await again();
  await again();
  expect(there()).toEqual(["jobs.sh.3"]);
  const { code } = await runCommand(["retry", "3"], { ...options(), program: "sshoal" });
  expect([code, there()]).toEqual([0, ["jobs.sh.3"]]);
  await again("--max-old", "all");
  expect(there()).toEqual(["jobs.sh.3", "jobs.sh.3.old-1"]);
});

test("nothing is removed before the newer result is in place", async () => {
  await own.work.write("jobs.sh", `${waitFor(own.work.path("go"))}\n`);
  await own.work.write("go", "");
  await again();
  await again();
  await rm(own.work.path("go"));
  const command = spawnCommand([...ARGS, "--rerun", "all", "--max-old", "0"], options());
  await until("the job runs again", () => there().join() === "jobs.sh.1.old-1,jobs.sh.1.old-2");
  await command.until(({ stdout }) => stdout().includes("started: jobs.sh.1;"));
  expect(there()).toEqual(["jobs.sh.1.old-1", "jobs.sh.1.old-2"]);
  await own.work.write("go", "");
  expect((await command.ended).code).toBe(0);
  expect(there()).toEqual(["jobs.sh.1"]);
});
