// Ctrl-C, once and twice: which jobs run, which never start, and what is collected.

import { existsSync } from "node:fs";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { EMPTY_SPOOL, LIGHT_NO_GPU, listBelow, listSpool, parseEvents, waitFor } from "../rig/batch.js";
import { type LiveCommand, runCommand, spawnCommand } from "../rig/command.js";
import { startSshd, type TestHost } from "../rig/sshd.js";
import { until } from "../rig/until.js";
import { makeWorkspace, type Workspace } from "../rig/workspace.js";

let hosts: TestHost[] = [];
let work: Workspace;
let seen: Workspace;

beforeAll(async () => {
  hosts = await Promise.all(["one", "two"].map((name) => startSshd({ name })));
});
beforeEach(async () => {
  [work, seen] = await Promise.all([makeWorkspace(), makeWorkspace()]);
});
afterEach(() => Promise.all([work.remove(), seen.remove()]));
afterAll(() => Promise.all(hosts.map((host) => host.stop())));

async function argsFor(jobs: readonly string[], extra: readonly string[] = []): Promise<string[]> {
  await work.write("jobs.sh", jobs.map((job) => `${job}\n`).join(""));
  const machines = await Promise.all(hosts.map((host) => host.machineFile("max_jobs: 1")));
  return ["jobs.sh", "--machines", ...machines, ...LIGHT_NO_GPU, ...extra];
}

/** Two jobs run, on one slot of each machine; two wait. */
async function start(job: string, extra: readonly string[] = []): Promise<LiveCommand> {
  const waiting = `touch ${seen.dir}/$SSHOAL_JOB.started; echo waited`;
  const command = spawnCommand(await argsFor([job, job, waiting, waiting], extra), { cwd: work.dir });
  await until("two jobs run", () =>
    ["jobs.sh.1", "jobs.sh.2"].every((name) => existsSync(seen.path(`${name}.started`))),
  );
  return command;
}

/** Jobs on the machine that neither a slot nor the client has taken. */
function waitingJobs(): string[] {
  const paths = hosts.flatMap(({ homeDir }) => listBelow(`${homeDir}/.sshoal/batches`));
  const jobs = paths.filter((path) => path.endsWith("/command")).map((path) => path.replace(/command$/, ""));
  return jobs.filter((job) => !paths.includes(`${job}claim`));
}

function expectNothingLeft(): void {
  for (const { homeDir } of hosts) expect(listSpool(`${homeDir}/.sshoal`)).toEqual(EMPTY_SPOOL);
}

const STARTED = "touch $SEEN/$SSHOAL_JOB.started";

test("Ctrl-C once: running jobs finish and are collected, waiting ones never start", async () => {
  const job = `SEEN=${seen.dir}; ${STARTED}; ${waitFor(seen.path("go"))}; echo finished; echo made > made.txt`;
  const command = await start(job);
  command.child.kill("SIGINT");
  await command.until(({ stderr }) => stderr().includes("stopping: no new jobs; running jobs finish"));
  await until("no job is left for a slot to take", () => waitingJobs().length === 0);
  await seen.write("go", "");
  const { code, stdout } = await command.ended;
  expect(code).toBe(130);
  expect(stdout).toMatch(
    /2 succeeded, 0 failed, 2 unfinished in \d+s\nunfinished jobs:\n {2}2 waiting\nNext: sshoal attach\W+sshoal results\n$/,
  );
  for (const line of [1, 2]) {
    expect(await work.read(`job_results/jobs.sh.${line}.out`)).toBe("finished\n");
    expect(await work.read(`job_results/jobs.sh.${line}/made.txt`)).toBe("made\n");
  }
  expect(listBelow(seen.dir)).toEqual(["go", "jobs.sh.1.started", "jobs.sh.2.started"]);
  expectNothingLeft();

  // The same command resumes where it was stopped.
  const again = await runCommand(await rest(), { cwd: work.dir });
  expect(again.code, again.stderr).toBe(0);
  expect(again.stdout).toMatch(/2 succeeded, 0 failed, 2 skipped/);
  expect(await work.read("job_results/jobs.sh.4.out")).toBe("waited\n");
});

async function rest(): Promise<string[]> {
  const machines = await Promise.all(hosts.map((host) => host.machineFile("max_jobs: 1")));
  return ["jobs.sh", "--machines", ...machines, ...LIGHT_NO_GPU];
}

test("Ctrl-C twice: running jobs are stopped with all their processes, and their results are collected", async () => {
  const children = "sleep 1000 & (trap '' INT; sleep 1000) & setsid sleep 1000 &";
  const job = `SEEN=${seen.dir}; echo so far; echo oops >&2; echo made > made.txt; ${children} ${STARTED}; wait; sleep 1000`;
  const command = await start(job);
  command.child.kill("SIGINT");
  await command.until(({ stderr }) => stderr().includes("stopping: no new jobs"));
  command.child.kill("SIGINT");
  const { code, stdout, stderr } = await command.ended;
  expect(stderr).toContain("stopping running jobs, collecting their results\n");
  expect(code).toBe(130);
  expect(stdout).toMatch(/0 succeeded, 0 failed, 4 stopped in \d+s\n/);
  for (const line of [1, 2]) {
    expect(stdout).toMatch(new RegExp(`\\n\\S ${line}  stopped  `));
    expect(await work.read(`job_results/jobs.sh.${line}.out`)).toBe("so far\n");
    expect(await work.read(`job_results/jobs.sh.${line}.err`)).toMatch(/^oops\n/);
    expect(await work.read(`job_results/jobs.sh.${line}/made.txt`)).toBe("made\n");
  }
  for (const host of hosts) await until("all of it has ended", () => host.pids().length === 0);
  expect(listBelow(seen.dir)).toEqual(["jobs.sh.1.started", "jobs.sh.2.started"]);
  expectNothingLeft();
});

test("Ctrl-C twice: a job that traps SIGTERM may save its state first", async () => {
  const save = "trap 'echo saved > checkpoint; exit 0' TERM";
  const command = await start(`SEEN=${seen.dir}; ${save}; ${STARTED}; while :; do sleep 0.1; done`, [
    "--json",
  ]);
  command.child.kill("SIGINT");
  await command.until(({ stdout }) => stdout().includes('"mode":"drain"'));
  command.child.kill("SIGINT");
  const { code, stdout } = await command.ended;
  expect(code).toBe(130);
  const ended = parseEvents(stdout).filter(({ kind }) => kind === "job-ended");
  expect(ended.map(({ job }) => job).sort()).toEqual([1, 2]);
  for (const { outcome } of ended) expect(outcome).toEqual({ kind: "stopped" });
  expect(await work.read("job_results/jobs.sh.1/checkpoint")).toBe("saved\n");
  expect(await work.read("job_results/jobs.sh.2/checkpoint")).toBe("saved\n");
});

test("Ctrl-C before anything runs", async () => {
  const command = spawnCommand(await argsFor(["sleep 1000", "sleep 1000"]), { cwd: work.dir });
  await command.until(
    ({ stderr, stdout }) => stderr().includes("copying") || stdout().includes("machine limits"),
  );
  command.child.kill("SIGINT");
  await command.until(({ stderr }) => stderr().includes("stopping: no new jobs"));
  command.child.kill("SIGINT");
  const { code } = await command.ended;
  expect(code).toBe(130);
  for (const host of hosts) await until("nothing runs there", () => host.pids().length === 0);
});
