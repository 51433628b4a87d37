// --keep-dir: the directory of a job stays on its machine until the job succeeds, and training resumes from its checkpoint.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { LIGHT_NO_GPU, waitFor } from "../rig/batch.js";
import { runCommand, spawnCommand } from "../rig/command.js";
import { rebootHost } from "../rig/reboot-host.js";
import { startSshd, type TestHost } from "../rig/sshd.js";
import { until } from "../rig/until.js";
import { makeWorkspace, type Workspace } from "../rig/workspace.js";

let a: TestHost;
let b: TestHost;
let machines: string[];
const SMALL = [...LIGHT_NO_GPU, "--keep-dir"];

beforeAll(async () => {
  [a, b] = await Promise.all([startSshd({ name: "a" }), startSshd({ name: "b" })]);
  machines = await Promise.all([a.machineFile("max_jobs: 3"), b.machineFile("max_jobs: 3")]);
});
afterAll(async () => {
  await Promise.all([a?.stop(), b?.stop()]);
});

/** Trains four steps, with a checkpoint after each in the directory that is its argument. Step 3 needs a file `fixed`. */
const TRAIN = `#!/bin/sh
mkdir -p "$1"
step=$(cat "$1/checkpoint" 2>/dev/null || echo 0)
echo "begins after step $step"
while [ $step -lt 4 ]; do
  step=$((step + 1))
  [ $step != 3 ] || [ -e fixed ] || exit 1
  echo $step >"$1/checkpoint"
done
`;

function batchesOn({ homeDir }: TestHost): string[] {
  const dir = join(homeDir, ".sshoal/batches");
  return existsSync(dir) ? readdirSync(dir) : [];
}

async function outOf(work: Workspace, job: string): Promise<string> {
  return work.read(`job_results/${job}.out`);
}

test("a failed job resumes from its checkpoint on the machine that has its directory, and success frees it", async () => {
  const work = await makeWorkspace({
    "train.sh": TRAIN,
    "state/of-the-user": "",
    "jobs.sh": "./train.sh state\necho fine\necho fine\necho fine\n",
  });
  // Only the machine has the checkpoint: it cannot come from the collected results.
  const words = ["jobs.sh", "--machines", ...machines, ...SMALL, "--exclude", "checkpoint"];
  const first = await runCommand(words, { cwd: work.dir });
  expect(first.code, first.stdout + first.stderr).toBe(1);
  expect(first.stderr).toMatch(
    /^(a|b)\.yaml keeps the directory of jobs\.sh\.1 until it succeeds: [\d.]+ kB/m,
  );
  const home = first.stderr.includes("a.yaml keeps") ? a : b;
  expect(batchesOn(home)).toHaveLength(1);
  expect(batchesOn(home === a ? b : a)).toEqual([]);
  const cleaned = await runCommand(["clean"], { cwd: work.dir, program: "sshoal" });
  expect(cleaned.stdout.replace(/\s+/g, " ")).toContain(
    "kept: a directory is kept until its job succeeds: jobs.sh.1",
  );
  await work.write("fixed", "");
  const again = await runCommand(["retry", "--failed"], { cwd: work.dir, program: "sshoal" });
  expect(again.code, again.stdout + again.stderr).toBe(0);
  expect(again.stderr).toContain(`jobs.sh.1 resumes in its directory on ${home.name}.yaml`);
  expect(await outOf(work, "jobs.sh.1")).toBe("begins after step 2\n");
  expect(batchesOn(a)).toEqual([]);
  expect(batchesOn(b)).toEqual([]);
});

test("if the machine is gone, a job resumes on another from the collected copy, or starts fresh and reports it", async () => {
  const work = await makeWorkspace({
    "train.sh": TRAIN,
    "jobs.sh": "./train.sh state\n./train.sh scratch\n",
  });
  const words = [...SMALL, "--exclude", "scratch", "--reassign-after", "1s"];
  const [onA = "", onB = ""] = machines;
  const first = await runCommand(["jobs.sh", "--machines", onA, ...words], { cwd: work.dir });
  expect(first.code, first.stdout + first.stderr).toBe(1);
  expect(first.stderr).toContain("a.yaml keeps the directories of jobs.sh.1, jobs.sh.2 until they succeed");
  await work.write("fixed", "");
  await a.halt();
  const again = await runCommand(["jobs.sh", "--machines", onA, onB, ...words, "--retry-failed"], {
    cwd: work.dir,
  });
  await a.start();
  expect(again.code, again.stdout + again.stderr).toBe(0);
  expect(again.stderr).toContain("jobs.sh.1 resumes on b.yaml from the copy in job_results/jobs.sh.1.old-1");
  expect(again.stderr).toContain("jobs.sh.2 starts fresh on b.yaml: nothing of its directory was collected");
  expect(await outOf(work, "jobs.sh.1")).toBe("begins after step 2\n");
  expect(await outOf(work, "jobs.sh.2")).toBe("begins after step 0\n");
  // The first machine's directory is no longer needed, and is removed once it is back.
  const last = await runCommand(["jobs.sh", "--machines", onA, onB, ...words], { cwd: work.dir });
  expect(last.code, last.stdout + last.stderr).toBe(0);
  expect([...batchesOn(a), ...batchesOn(b)]).toEqual([]);
});

test("a directory survives a time-out, a stop and a reboot of its machine", async () => {
  const work = await makeWorkspace({
    "train.sh": TRAIN,
    "jobs.sh": [
      `./train.sh state || { ${waitFor("fixed")}; }`,
      "#@ --timeout 1s --keep-dir",
      "./train.sh state || sleep 60",
    ].join("\n"),
  });
  const [onA = ""] = machines;
  const words = ["jobs.sh", "--machines", onA, ...SMALL, "--retries", "1"];
  const client = spawnCommand(words, { cwd: work.dir });
  const hasFailed = (stdout: string) => stdout.includes("failed: jobs.sh.3");
  await client.until(({ stdout }) => hasFailed(stdout()));
  const out = (job: string) => {
    const file = work.path(`job_results/${job}.out`);
    return existsSync(file) ? readFileSync(file, "utf8") : "";
  };
  const begins = (text: string, times: number) => text.split("begins").length > times;
  await until("the first job is at step 3", () => begins(out("jobs.sh.1"), 1));
  rebootHost(a);
  await client.until(({ stderr }) => stderr().includes("jobs.sh.1 resumes in its directory on a.yaml"));
  await until("it goes on", () => out("jobs.sh.1") === "begins after step 2\n");
  client.child.kill("SIGINT");
  await client.until(({ stderr }) => stderr().includes("no new jobs"));
  client.child.kill("SIGINT");
  const stopped = await client.ended;
  expect(stopped.code, stopped.stdout + stopped.stderr).toBe(130);
  expect(stopped.stderr).toContain("a.yaml keeps the directories of jobs.sh.1, jobs.sh.3 until they succeed");
  await work.write("fixed", "");
  const again = await runCommand([...words, "--retry-failed"], { cwd: work.dir });
  expect(again.code, again.stdout + again.stderr).toBe(0);
  for (const job of ["jobs.sh.1", "jobs.sh.3"]) {
    expect(again.stderr).toContain(`${job} resumes in its directory on a.yaml`);
    expect(await outOf(work, job)).toBe("begins after step 2\n");
  }
  expect(batchesOn(a)).toEqual([]);
});
