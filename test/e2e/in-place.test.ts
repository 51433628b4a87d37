// Jobs on this machine: they run in the user's directory, and nothing is copied unless requested.

import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import { listBelow, waitFor } from "../rig/batch.js";
import { runCommand, spawnCommand } from "../rig/command.js";
import { useOwnHome } from "../rig/own-home.js";
import { until } from "../rig/until.js";

const own = useOwnHome();

async function argsFor(jobs: readonly string[], extra: readonly string[] = []): Promise<string[]> {
  await own.work.write("jobs.sh", jobs.map((job) => `${job}\n`).join(""));
  return ["jobs.sh", "--no-gpu-required", "--memory-required", "1", ...extra];
}

const options = () => ({ cwd: own.work.dir, home: own.home.dir });

test("jobs run in the working directory; their output is in job_results/", async () => {
  await own.work.write("input.txt", "from the user\n");
  const args = await argsFor([
    "pwd; cat input.txt; echo made > made.txt; echo bad >&2",
    "exec sh -c 'exit 4'",
  ]);
  const { code, stdout } = await runCommand(args, options());
  expect(code).toBe(1);
  expect(await own.work.read("job_results/jobs.sh.1.out")).toBe(`${own.work.dir}\nfrom the user\n`);
  expect(await own.work.read("job_results/jobs.sh.1.err")).toBe("bad\n");
  expect(await own.work.read("made.txt")).toBe("made\n");
  expect(listBelow(own.work.path("job_results/jobs.sh.1"))).toEqual([]);
  expect(stdout).toMatch(/\n\S 2 {2}exit 4 {2}/);
  expect(listBelow(own.home.path(".sshoal/trees"))).toEqual([]);
});

test("files in $SSHOAL_RESULTS belong to the job, in place and in a copy", async () => {
  const job = "mkdir $SSHOAL_RESULTS/deep; echo $SSHOAL_JOB > $SSHOAL_RESULTS/deep/mine";
  expect((await runCommand(await argsFor([job, job]), options())).code).toBe(0);
  expect(await own.work.read("job_results/jobs.sh.1/deep/mine")).toBe("jobs.sh.1\n");
  expect(await own.work.read("job_results/jobs.sh.2/deep/mine")).toBe("jobs.sh.2\n");
  const again = await argsFor([job], ["--copy-forward", "./", "--rerun", "all"]);
  expect((await runCommand(again, options())).code).toBe(0);
  expect(await own.work.read("job_results/jobs.sh.1/deep/mine")).toBe("jobs.sh.1\n");
});

test("--copy-forward gives each job a copy, and collects what it makes", async () => {
  const args = await argsFor(["echo made > made.txt"], ["--copy-forward", "./"]);
  expect((await runCommand(args, options())).code).toBe(0);
  expect(existsSync(own.work.path("made.txt"))).toBe(false);
  expect(await own.work.read("job_results/jobs.sh.1/made.txt")).toBe("made\n");
});

test("a killed client stops nothing: the same command resumes", async () => {
  const job = `echo $$ > pid; ${waitFor(own.work.path("go"))}; echo went on; exit 7`;
  const args = await argsFor([job, "echo second"]);
  const first = spawnCommand(args, options());
  await until("the job runs", () => existsSync(own.work.path("pid")));
  first.child.kill("SIGKILL");
  await first.ended;
  const again = spawnCommand(args, options());
  await again.until(({ stdout }) => stdout().includes("resuming"));
  await own.work.write("go", "");
  const { code, stdout } = await again.ended;
  expect(code).toBe(1);
  expect(stdout).toMatch(/\n\S 1 {2}exit 7 {2}.* went on\n/);
  expect(await own.work.read("job_results/jobs.sh.1.out")).toBe("went on\n");
  expect(await own.work.read("job_results/jobs.sh.2.out")).toBe("second\n");
});

test("--copy-backwards alone is refused, with what to add", async () => {
  const { code, stderr } = await runCommand(await argsFor(["true"], ["--copy-backwards", "out"]), options());
  expect(code).toBe(2);
  expect(stderr).toContain("--copy-backwards has no effect if jobs run in place");
  expect(stderr).toContain("try: add --copy-forward ./");
});
