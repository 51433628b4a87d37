// SIGUSR1 and SIGUSR2: while a batch is paused no job begins, whatever happens to its connection or its client.

import { existsSync, readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { EMPTY_SPOOL, LIGHT_NO_GPU, listBelow, listSpool, waitFor } from "../rig/batch.js";
import { type LiveCommand, runCommand, spawnCommand } from "../rig/command.js";
import { useMachine } from "../rig/one-machine.js";
import { type Relay, startRelay } from "../rig/relay.js";
import { startSshd } from "../rig/sshd.js";
import { until } from "../rig/until.js";

let relay: Relay;
const { host, work, seen } = useMachine(() => startSshd({ name: "one" }));

beforeAll(async () => {
  relay = await startRelay(host.port);
});
afterAll(() => relay.stop());

/** Four jobs, one slot. Each notes that it begins, and ends once a file "go" exists. */
async function argsFor(): Promise<string[]> {
  const job = `echo $SSHOAL_JOB >>${seen.path("begun")}; ${waitFor(seen.path("go"))}`;
  await work.write("jobs.sh", `${job}\n`.repeat(4));
  return ["jobs.sh", "--machines", await host.machineFile("max_jobs: 1", relay), ...LIGHT_NO_GPU];
}

function begun(): string[] {
  const file = seen.path("begun");
  return existsSync(file) ? readFileSync(file, "utf8").split("\n").slice(0, -1) : [];
}

function hasWaitingJobs(): boolean {
  const paths = listBelow(`${host.homeDir}/.sshoal/batches`);
  const jobs = paths.filter((path) => path.endsWith("/command")).map((path) => path.replace(/command$/, ""));
  return jobs.some((job) => !paths.includes(`${job}claim`));
}

/** One job runs, and no other is left for the slot to take. */
async function startAndPause(args: readonly string[]): Promise<LiveCommand> {
  const command = spawnCommand(args, { cwd: work.dir });
  await command.until(({ stdout }) => stdout().includes("started: jobs.sh.1;"));
  command.child.kill("SIGUSR1");
  const notice = `paused: no new jobs, running ones continue; kill -USR2 ${command.child.pid} resumes\n`;
  await command.until(({ stderr }) => stderr().includes(notice));
  await until("no job is left for the slot to take", () => !hasWaitingJobs());
  return command;
}

test("paused: running jobs continue, none begins, even after a lost connection; then all begin in order", async () => {
  const command = await startAndPause(await argsFor());
  command.child.kill("SIGUSR1");
  await seen.write("go", "");
  await command.until(({ stdout }) => stdout().includes("finished: jobs.sh.1;"));
  relay.cut();
  await command.until(({ stderr }) => stderr().includes("the link to one.yaml is back"));
  expect(command.child.exitCode).toBeNull();
  expect(begun()).toEqual(["jobs.sh.1"]);
  command.child.kill("SIGUSR2");
  await command.until(({ stderr }) => stderr().includes("resumed: waiting jobs begin again\n"));
  command.child.kill("SIGUSR2");
  const { code, stdout, stderr } = await command.ended;
  expect(code, stderr).toBe(0);
  expect(stdout).toContain("4 succeeded, 0 failed in ");
  expect(begun()).toEqual(["jobs.sh.1", "jobs.sh.2", "jobs.sh.3", "jobs.sh.4"]);
  expect(stderr.match(/paused:/g)).toHaveLength(1);
  expect(stderr.match(/resumed:/g)).toHaveLength(1);
  expect(listSpool(`${host.homeDir}/.sshoal`)).toEqual(EMPTY_SPOOL);
});

test("a client that is killed while paused: the next one is not paused", async () => {
  const args = await argsFor();
  const command = await startAndPause(args);
  command.child.kill("SIGKILL");
  await command.ended;
  await seen.write("go", "");
  const { code, stdout, stderr } = await runCommand(args, { cwd: work.dir });
  expect(code, stderr).toBe(0);
  expect(stdout).toContain("4 succeeded, 0 failed in ");
  expect(begun()).toEqual(["jobs.sh.1", "jobs.sh.2", "jobs.sh.3", "jobs.sh.4"]);
});

test("Ctrl-C while paused: the running job finishes, the others are left", async () => {
  const command = await startAndPause(await argsFor());
  command.child.kill("SIGINT");
  await command.until(({ stderr }) => stderr().includes("stopping: no new jobs"));
  await seen.write("go", "");
  const { code, stdout } = await command.ended;
  expect(code).toBe(130);
  expect(stdout).toContain("1 succeeded, 0 failed, 3 unfinished in ");
  expect(begun()).toEqual(["jobs.sh.1"]);
});
