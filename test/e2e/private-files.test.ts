// Other users cannot read anything that a batch leaves on this computer, with any umask.

import { lstatSync, readdirSync } from "node:fs";
import { chmod, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { LIGHT_NO_GPU, waitFor } from "../rig/batch.js";
import { spawnCommand } from "../rig/command.js";
import { useOwnHome } from "../rig/own-home.js";
import { until } from "../rig/until.js";

const own = useOwnHome({ "input.txt": "one\n" });

/** Everything below a directory that other users have rights to; links have no modes of their own. */
function openToOthers(dir: string): string[] {
  return readdirSync(dir, { withFileTypes: true }).flatMap((entry) => {
    const path = join(dir, entry.name);
    const isOpen = !entry.isSymbolicLink() && (lstatSync(path).mode & 0o077) !== 0;
    return [...(isOpen ? [path] : []), ...(entry.isDirectory() ? openToOthers(path) : [])];
  });
}

const modeOf = (...parts: string[]) => lstatSync(own.work.path(...parts)).mode & 0o777;

/** A job that runs while output arrives, one whose output arrives with its results, and one that fails. */
async function runBatch(): Promise<void> {
  const jobs = [
    `umask 0; echo one; ${waitFor(own.work.path("go"))}; mkdir -m 777 d; echo x > d/f; chmod 777 d/f`,
    "umask 0; echo two; echo err >&2; ln -s input.txt link",
    "exit 3",
  ];
  await own.work.write("jobs.sh", `${jobs.join("\n")}\n`);
  const before = process.umask(0);
  const args = ["jobs.sh", ...LIGHT_NO_GPU, "--copy-forward", "./"];
  const client = spawnCommand(args, { cwd: own.work.dir, home: own.home.dir });
  process.umask(before);
  await until("output is here while its job runs", async () =>
    (await own.work.read("job_results/jobs.sh.1.out").catch(() => "")).includes("one"),
  );
  expect(openToOthers(own.work.path("job_results"))).toEqual([]);
  await own.work.write("go", "");
  expect((await client.ended).code).toBe(1);
}

test("job_results, records, output, results and caches are readable only by their owner", async () => {
  await runBatch();
  expect(modeOf("job_results")).toBe(0o700);
  expect(openToOthers(own.work.path("job_results"))).toEqual([]);
  expect(modeOf("job_results", "jobs.sh.1", "d", "f")).toBe(0o700);
  expect(openToOthers(join(own.home.dir, ".cache", "sshoal"))).toEqual([]);
  expect(lstatSync(join(own.home.dir, ".cache")).mode & 0o077).toBe(0);
});

test("a job_results that the user made keeps its mode", async () => {
  await mkdir(own.work.path("job_results"));
  await chmod(own.work.path("job_results"), 0o755);
  await runBatch();
  expect(modeOf("job_results")).toBe(0o755);
  expect(openToOthers(own.work.path("job_results"))).toEqual([]);
});
