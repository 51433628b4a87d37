// Processes die on a machine: all of them, a slot's loop, the keeper of a job, a job. The batch recovers without help.

import { execFileSync } from "node:child_process";
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { giveToRemote } from "../rig/account.js";
import { LIGHT, LIGHT_NO_GPU, listBelow, waitFor } from "../rig/batch.js";
import { type LiveCommand, runCommand, spawnCommand } from "../rig/command.js";
import { STAND_IN_BIN, saveGpus } from "../rig/gpus.js";
import { type Ledger, openLedger, sweep } from "../rig/ledger.js";
import { killAll, signalAll } from "../rig/processes.js";
import { rebootHost } from "../rig/reboot-host.js";
import { type Relay, startRelay } from "../rig/relay.js";
import { startSshd, type TestHost } from "../rig/sshd.js";
import { until } from "../rig/until.js";

let host: TestHost;
let relay: Relay;
let ledger: Ledger;

beforeAll(async () => {
  host = await startSshd({ name: "one" });
});
beforeEach(async () => {
  [relay, ledger] = await Promise.all([startRelay(host.port), openLedger()]);
});
afterEach(async () => {
  await sweep(host);
  await relay.stop();
  await ledger.remove();
});
afterAll(() => host?.stop());

async function batchArgs(...more: string[]): Promise<string[]> {
  return ["jobs.sh", "--machines", await host.machineFile("max_jobs: 2", relay), ...LIGHT_NO_GPU, ...more];
}

/** The only spool, or something in it. */
function spool(path = "", on = host): string {
  const batches = join(on.homeDir, ".sshoal/batches");
  return join(batches, readdirSync(batches)[0] ?? "", path);
}

/** The pid in a file such as `slots/0/loop`. */
function pidIn(file: string, on = host): number {
  return Number(readFileSync(spool(file, on), "utf8").split(" ")[0]);
}

const reboot = () => rebootHost(host);

/** The client knows that it began, and the job has written its pid. */
async function hasBegun(client: LiveCommand, line: number, times = 1): Promise<void> {
  await client.until(({ stdout }) => stdout().split(`started: jobs.sh.${line};`).length > times);
  await until(`line ${line} runs`, async () => (await ledger.runs()).get(line) === times);
}

async function expectFine(client: LiveCommand, runs: Map<number, number> = new Map()): Promise<void> {
  const { code, stdout, stderr } = await client.ended;
  const besides = [...runs].flatMap(([line, times]) =>
    Array.from({ length: times - 1 }, (_, index) => `jobs.sh.${line}.old-${index + 1}`),
  );
  const wrong = await ledger.audit([host], { runs, besides });
  // A job that was lost with the machine has no results yet.
  const isOfLost = (text: string) => /\.old-\d+(\/made\.txt|\.err) is /.test(text);
  expect(
    wrong.filter((text) => !isOfLost(text)),
    stdout + stderr,
  ).toEqual([]);
  expect(code).toBe(0);
}

describe("a machine that is rebooted", () => {
  /** Line 1 has ended, lines 2 and 3 run, lines 4 and 5 wait. */
  async function fiveJobs(): Promise<void> {
    const wait = ledger.job(waitFor(ledger.seen.path("go")));
    await ledger.write([ledger.job(), wait, wait, ledger.job(), ledger.job()]);
  }

  test("under a client: lost jobs are retried, waiting ones run, the finished one counts", async () => {
    await fiveJobs();
    const client = spawnCommand(await batchArgs(), { cwd: ledger.work.dir });
    await hasBegun(client, 3);
    relay.refuse();
    relay.cut();
    reboot();
    await ledger.seen.write("go", "");
    relay.accept();
    await expectFine(
      client,
      new Map([
        [2, 2],
        [3, 2],
      ]),
    );
    expect(client.stderr()).toMatch(/WARNING: jobs\.sh\.2 is lost on one\.yaml: /);
    expect(client.stderr()).toMatch(/WARNING: retrying: /);
  });

  test.each(["slots/0/events", "slots/1/events"])("by a power failure that emptied %s", async (log) => {
    await fiveJobs();
    const client = spawnCommand(await batchArgs(), { cwd: ledger.work.dir });
    await hasBegun(client, 3);
    relay.refuse();
    relay.cut();
    reboot();
    truncateSync(spool(log), 0);
    await ledger.seen.write("go", "");
    relay.accept();
    await expectFine(
      client,
      new Map([
        [2, 2],
        [3, 2],
      ]),
    );
  });

  test("without a client: the same command finds out", async () => {
    await fiveJobs();
    const args = await batchArgs();
    const first = spawnCommand(args, { cwd: ledger.work.dir });
    await hasBegun(first, 3);
    first.child.kill("SIGKILL");
    await first.ended;
    reboot();
    await ledger.seen.write("go", "");
    const client = spawnCommand(args, { cwd: ledger.work.dir });
    await expectFine(
      client,
      new Map([
        [2, 2],
        [3, 2],
      ]),
    );
  });

  test("--retries 0: the jobs are lost, and reported as lost", async () => {
    await fiveJobs();
    const client = spawnCommand(await batchArgs("--retries", "0"), { cwd: ledger.work.dir });
    await hasBegun(client, 3);
    relay.refuse();
    relay.cut();
    reboot();
    relay.accept();
    const { code, stdout } = await client.ended;
    expect(stdout).toContain("3 succeeded, 0 failed, 2 lost in");
    expect(stdout).toMatch(/^\? 2 {2}lost {2}/m);
    expect(code).toBe(1);
  });

  test("repeatedly: after --retries the job is not tried again", async () => {
    await ledger.write([ledger.job(waitFor(ledger.seen.path("never")))]);
    const client = spawnCommand(await batchArgs("--retries", "2"), { cwd: ledger.work.dir });
    for (const times of [1, 2, 3]) {
      await hasBegun(client, 1, times);
      relay.refuse();
      relay.cut();
      reboot();
      relay.accept();
    }
    const { code, stdout, stderr } = await client.ended;
    expect(stdout, stderr).toContain("0 succeeded, 0 failed, 1 lost in");
    expect(code).toBe(1);
    expect((await ledger.runs()).get(1)).toBe(3);
  });

  test("while a job was being taken: an empty claim belongs to no slot", async () => {
    await ledger.write([ledger.job(waitFor(ledger.seen.path("go"))), ledger.job(), ledger.job()]);
    const args = ["jobs.sh", "--machines", await host.machineFile("max_jobs: 1", relay), ...LIGHT_NO_GPU];
    const client = spawnCommand(args, { cwd: ledger.work.dir });
    await hasBegun(client, 1);
    relay.refuse();
    relay.cut();
    reboot();
    for (const key of ["5000000000001-1-1", "5000000000002-2-1"]) {
      writeFileSync(spool(`jobs/${key}/claim`), "");
      giveToRemote(spool(`jobs/${key}/claim`));
    }
    await ledger.seen.write("go", "");
    relay.accept();
    const { code, stdout, stderr } = await client.ended;
    expect(stdout, stderr).toContain("3 succeeded, 0 failed in");
    expect(code).toBe(0);
    expect([...(await ledger.runs())].toSorted()).toEqual([
      [1, 2],
      [2, 1],
      [3, 1],
    ]);
  });
});

describe("killed, with the client watching:", () => {
  /** Line 1 runs on the only slot, the others wait. */
  async function oneByOne(...jobs: string[]): Promise<LiveCommand> {
    await ledger.write(jobs);
    const args = ["jobs.sh", "--machines", await host.machineFile("max_jobs: 1", relay), ...LIGHT_NO_GPU];
    const client = spawnCommand(args, { cwd: ledger.work.dir });
    await hasBegun(client, 1);
    return client;
  }

  test("the loop: its job finishes, and another loop continues", async () => {
    const client = await oneByOne(ledger.job(waitFor(ledger.seen.path("go"))), ledger.job(), ledger.job());
    killAll([pidIn("slots/0/loop")]);
    await ledger.seen.write("go", "");
    await expectFine(client);
  });

  test("the keeper: the job still writes its exit code, and the loop continues", async () => {
    const [fine, failing] = ["go-1", "go-2"].map((name) => waitFor(ledger.seen.path(name)));
    const client = await oneByOne(ledger.job(fine), ledger.job(`${failing}; exit 7`), ledger.job());
    killAll([pidIn("slots/0/keeper")]);
    await ledger.seen.write("go-1", "");
    await client.until(({ stdout }) => stdout().includes("started: jobs.sh.2"));
    killAll([pidIn("slots/0/keeper")]);
    await ledger.seen.write("go-2", "");
    const { code, stdout, stderr } = await client.ended;
    expect(stdout, stderr).toContain("2 succeeded, 1 failed in");
    expect(stdout).toMatch(/^\S 2 {2}exit 7 {2}/m);
    expect(code).toBe(1);
    expect([...(await ledger.runs()).values()]).toEqual([1, 1, 1]);
    // Unchanged inputs are no results, whichever process cleaned up.
    expect(listBelow(ledger.work.path("job_results/jobs.sh.1"))).toEqual(["made.txt"]);
  });

  test("the loop and the keeper: the job finishes, and another loop continues", async () => {
    const client = await oneByOne(ledger.job(waitFor(ledger.seen.path("go"))), ledger.job());
    killAll([pidIn("slots/0/loop"), pidIn("slots/0/keeper")]);
    await ledger.seen.write("go", "");
    await expectFine(client);
  });

  test("the keeper and the job: it is lost, and retried", async () => {
    const client = await oneByOne(ledger.job(waitFor(ledger.seen.path("go"))), ledger.job());
    killAll([pidIn("slots/0/keeper"), pidIn("slots/0/job")]);
    await ledger.seen.write("go", "");
    await expectFine(client, new Map([[1, 2]]));
  });

  test("every process, by the signal of a shutdown or a logout: the job is lost, and retried", async () => {
    const client = await oneByOne(ledger.job(waitFor(ledger.seen.path("go"))), ledger.job());
    relay.refuse();
    relay.cut();
    signalAll(host.pids(), "SIGTERM");
    await until("all of them are gone", () => host.pids().length === 0);
    await ledger.seen.write("go", "");
    relay.accept();
    await expectFine(client, new Map([[1, 2]]));
  });

  test("the job: it has failed, by that signal, and the slot continues", async () => {
    const client = await oneByOne(ledger.job(waitFor(ledger.seen.path("go"))), ledger.job());
    killAll([pidIn("slots/0/job")]);
    const { code, stdout, stderr } = await client.ended;
    expect(stdout, stderr).toContain("1 succeeded, 1 failed in");
    expect(stdout).toMatch(/^\S 1 {2}SIGKILL {2}/m);
    expect(code).toBe(1);
    expect([...(await ledger.runs()).values()]).toEqual([1, 1]);
  });

  test("the shell that answers the client: the client starts another one", async () => {
    const client = await oneByOne(ledger.job(waitFor(ledger.seen.path("go"))), ledger.job());
    killAll([pidIn("holder")]);
    await client.until(({ stderr }) => stderr().includes("the link to one.yaml is back"));
    await ledger.seen.write("go", "");
    await expectFine(client);
  });

  test("a loop that waits for room, while nothing of its batch runs", async () => {
    // For the probe, which asks first, the card is free. For slots it is full until a file exists.
    await ledger.seen.write(
      "bin/nvidia-smi",
      `#!/bin/sh
case "$*" in
  *--query-gpu*)
    [ -e ${ledger.seen.dir}/go ] || ! [ -e ${ledger.seen.dir}/asked ] || export NVIDIA_SMI_STATE=${ledger.seen.path("full.state")}
    touch ${ledger.seen.dir}/asked
    ;;
esac
exec ${STAND_IN_BIN}/nvidia-smi "$@"
`,
    );
    const other = await startSshd({ name: "other", path: [ledger.seen.path("bin")] });
    onTestFinished(() => other.stop());
    saveGpus(join(other.homeDir, "nvidia-smi.state"), { gpus: [{}] });
    saveGpus(ledger.seen.path("full.state"), { gpus: [{ memoryFree: 12 }] });
    await ledger.write([ledger.job(), ledger.job()]);
    const args = ["jobs.sh", "--machines", await other.machineFile(), ...LIGHT, "--json"];
    const client = spawnCommand(args, { cwd: ledger.work.dir });
    await client.until(({ stdout }) => stdout().includes('"kind":"slot-waiting"'));
    killAll([pidIn("slots/0/loop", other)]);
    await ledger.seen.write("go", "");
    const { code, stderr } = await client.ended;
    expect(await ledger.audit([other]), stderr).toEqual([]);
    expect(code).toBe(0);
  });
});

test("a spool that was removed: the fate of its jobs is unknown, and none runs again", async () => {
  await ledger.write([ledger.job(waitFor(ledger.seen.path("go"))), ledger.job()]);
  const args = ["jobs.sh", "--machines", await host.machineFile("max_jobs: 1", relay), ...LIGHT_NO_GPU];
  const first = spawnCommand(args, { cwd: ledger.work.dir });
  await first.until(({ stdout }) => stdout().includes("started: jobs.sh.1"));
  first.child.kill("SIGKILL");
  await first.ended;
  killAll(host.pids());
  rmSync(spool(), { recursive: true });
  const { code, stdout, stderr } = await runCommand(args, { cwd: ledger.work.dir });
  expect(stderr).toContain(
    "WARNING: one.yaml is left out: it no longer has the jobs that were handed over\n",
  );
  expect(stdout).toContain("2 lost: ");
  expect(code).toBe(1);
  // The job that began may have been ended before it printed anything.
  expect((await ledger.runs()).size).toBeLessThanOrEqual(1);
});

test("one job that is missing in its spool: its fate is unknown, and the others are collected", async () => {
  await ledger.write([ledger.job(waitFor(ledger.seen.path("go"))), ledger.job()]);
  const args = ["jobs.sh", "--machines", await host.machineFile("max_jobs: 1", relay), ...LIGHT_NO_GPU];
  const first = spawnCommand(args, { cwd: ledger.work.dir });
  await first.until(({ stdout }) => stdout().includes("started: jobs.sh.1"));
  first.child.kill("SIGKILL");
  await first.ended;
  rmSync(spool("jobs/5000000000002-2-1"), { recursive: true });
  await ledger.seen.write("go", "");
  const { code, stdout, stderr } = await runCommand(args, { cwd: ledger.work.dir });
  expect(stderr).toContain("WARNING: jobs.sh.2 is no longer on one.yaml: the outcome is unknown\n");
  expect(stdout).toContain("finished: jobs.sh.1;");
  expect(stdout).toContain("1 lost: ");
  expect(code).toBe(1);
});

test("a spool that is removed while it is followed: noticed, its jobs are unknown, the other machine continues", async () => {
  const other = await startSshd({ name: "other" });
  onTestFinished(() => other.stop());
  await ledger.write([1, 2, 3, 4].map(() => ledger.job(waitFor(ledger.seen.path("go")))));
  const machines = [await host.machineFile("max_jobs: 1", relay), await other.machineFile("max_jobs: 1")];
  const args = ["jobs.sh", "--machines", ...machines, ...LIGHT_NO_GPU];
  const client = spawnCommand(args, { cwd: ledger.work.dir });
  await client.until(({ stdout }) => (stdout().match(/^started: /gm) ?? []).length === 2);
  rmSync(spool(), { recursive: true, force: true, maxRetries: 5 });
  await client.until(({ stderr }) => stderr().includes("one.yaml is left out: it no longer has the jobs"));
  await ledger.seen.write("go", "");
  const { code, stdout } = await client.ended;
  expect(stdout).toContain(" lost: their machine");
  expect(code).toBe(1);
});

test("a spool that is removed while it is followed, and made again by another client: its jobs are unknown", async () => {
  await ledger.write([1, 2].map(() => ledger.job(waitFor(ledger.seen.path("go")))));
  const args = ["jobs.sh", "--machines", await host.machineFile("max_jobs: 1", relay), ...LIGHT_NO_GPU];
  const client = spawnCommand(args, { cwd: ledger.work.dir });
  await client.until(({ stdout }) => stdout().includes("started: jobs.sh.1"));
  const [there, aside] = [spool(), join(host.homeDir, "aside")];
  // As after `attach` on another computer, which has collected all results and retried one job.
  execFileSync("cp", ["-a", there, aside]);
  renameSync(join(aside, "jobs/5000000000002-2-1"), join(aside, "jobs/5000000000002-2-2"));
  for (const path of ["jobs/5000000000001-1-1", "slots/0/loop", "slots/0/keeper", "slots/0/job"])
    rmSync(join(aside, path), { recursive: true });
  truncateSync(join(aside, "slots/0/events"), 0);
  rmSync(there, { recursive: true, force: true, maxRetries: 5 });
  renameSync(aside, there);
  const { code, stdout, stderr } = await client.ended;
  expect(stderr).toContain("one.yaml is left out: it no longer has the jobs that were handed over");
  expect(stdout).toContain("2 lost: ");
  expect(code).toBe(1);
});

test("a slot that another host runs is reported and not touched, and its spool stays", async () => {
  await ledger.write([ledger.job(waitFor(ledger.seen.path("go")))]);
  const client = spawnCommand(await batchArgs(), { cwd: ledger.work.dir });
  await hasBegun(client, 1);
  mkdirSync(spool("slots/9"));
  writeFileSync(spool("slots/9/loop"), "4321 1 another-boot@node7\n");
  giveToRemote(spool("slots/9"));
  await client.until(({ stderr }) => stderr().includes("one.yaml: slot 9 runs on node7, and is not touched"));
  await ledger.seen.write("go", "");
  const { code, stderr } = await client.ended;
  expect(stderr).toContain("one.yaml: the batch's directory stays: a slot of it runs on node7");
  expect(code).toBe(0);
  expect(readFileSync(spool("slots/9/loop"), "utf8")).toBe("4321 1 another-boot@node7\n");
});

test("300 MB without a line end in an event log: reported, and every job is collected", async () => {
  await ledger.write([ledger.job(waitFor(ledger.seen.path("go"))), ledger.job()]);
  const args = ["jobs.sh", "--machines", await host.machineFile("max_jobs: 1", relay), ...LIGHT_NO_GPU];
  const client = spawnCommand(args, { cwd: ledger.work.dir });
  await client.until(({ stdout }) => stdout().includes("started: jobs.sh.1"));
  const log = join(spool(), "slots/0/events");
  truncateSync(log, statSync(log).size + 300e6);
  await ledger.seen.write("go", "");
  const { code, stderr } = await client.ended;
  expect(stderr).toContain("WARNING: one.yaml: its event log has a line that is too long, which was skipped");
  expect(await ledger.audit([host]), stderr).toEqual([]);
  expect(code).toBe(0);
});
