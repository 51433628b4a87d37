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
import { describe, expect, onTestFinished, test } from "vitest";
import { giveToRemote } from "../rig/account.js";
import { LIGHT, LIGHT_NO_GPU, listBelow, waitFor } from "../rig/batch.js";
import { type LiveCommand, runCommand, spawnCommand } from "../rig/command.js";
import { STAND_IN_BIN, saveGpus } from "../rig/gpus.js";

import { killAll, signalAll } from "../rig/processes.js";
import { rebootHost } from "../rig/reboot-host.js";
import { useRelayedHost } from "../rig/relayed-host.js";
import { startSshd } from "../rig/sshd.js";
import { until } from "../rig/until.js";

const rig = useRelayedHost();

/** The only spool, or something in it. */
function spool(path = "", on = rig.host): string {
  const batches = join(on.homeDir, ".sshoal/batches");
  return join(batches, readdirSync(batches)[0] ?? "", path);
}

/** The pid in a file such as `slots/0/loop`. */
function pidIn(file: string, on = rig.host): number {
  return Number(readFileSync(spool(file, on), "utf8").split(" ")[0]);
}

const reboot = () => rebootHost(rig.host);

/** The client knows that it began, and the job has written its pid. */
async function hasBegun(client: LiveCommand, line: number, times = 1): Promise<void> {
  await client.until(({ stdout }) => stdout().split(`started: jobs.sh.${line};`).length > times);
  await until(`line ${line} runs`, async () => (await rig.ledger.runs()).get(line) === times);
}

async function expectFine(client: LiveCommand, runs: Map<number, number> = new Map()): Promise<void> {
  const { code, stdout, stderr } = await client.ended;
  const besides = [...runs].flatMap(([line, times]) =>
    Array.from({ length: times - 1 }, (_, index) => `jobs.sh.${line}.old-${index + 1}`),
  );
  const wrong = await rig.ledger.audit([rig.host], { runs, besides });
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
    const wait = rig.ledger.job(waitFor(rig.ledger.seen.path("go")));
    await rig.ledger.write([rig.ledger.job(), wait, wait, rig.ledger.job(), rig.ledger.job()]);
  }

  test("under a client: lost jobs are retried, waiting ones run, the finished one counts", async () => {
    await fiveJobs();
    const client = spawnCommand(await rig.batchArgs(), { cwd: rig.ledger.work.dir });
    await hasBegun(client, 3);
    rig.relay.refuse();
    rig.relay.cut();
    reboot();
    await rig.ledger.seen.write("go", "");
    rig.relay.accept();
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
    const client = spawnCommand(await rig.batchArgs(), { cwd: rig.ledger.work.dir });
    await hasBegun(client, 3);
    rig.relay.refuse();
    rig.relay.cut();
    reboot();
    truncateSync(spool(log), 0);
    await rig.ledger.seen.write("go", "");
    rig.relay.accept();
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
    const args = await rig.batchArgs();
    const first = spawnCommand(args, { cwd: rig.ledger.work.dir });
    await hasBegun(first, 3);
    first.child.kill("SIGKILL");
    await first.ended;
    reboot();
    await rig.ledger.seen.write("go", "");
    const client = spawnCommand(args, { cwd: rig.ledger.work.dir });
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
    const client = spawnCommand(await rig.batchArgs("--retries", "0"), { cwd: rig.ledger.work.dir });
    await hasBegun(client, 3);
    rig.relay.refuse();
    rig.relay.cut();
    reboot();
    rig.relay.accept();
    const { code, stdout } = await client.ended;
    expect(stdout).toContain("3 succeeded, 0 failed, 2 lost in");
    expect(stdout).toMatch(/^\? 2 {2}lost {2}/m);
    expect(code).toBe(1);
  });

  test("repeatedly: after --retries the job is not tried again", async () => {
    await rig.ledger.write([rig.ledger.job(waitFor(rig.ledger.seen.path("never")))]);
    const client = spawnCommand(await rig.batchArgs("--retries", "2"), { cwd: rig.ledger.work.dir });
    for (const times of [1, 2, 3]) {
      await hasBegun(client, 1, times);
      rig.relay.refuse();
      rig.relay.cut();
      reboot();
      rig.relay.accept();
    }
    const { code, stdout, stderr } = await client.ended;
    expect(stdout, stderr).toContain("0 succeeded, 0 failed, 1 lost in");
    expect(code).toBe(1);
    expect((await rig.ledger.runs()).get(1)).toBe(3);
  });

  test("while a job was being taken: an empty claim belongs to no slot", async () => {
    await rig.ledger.write([
      rig.ledger.job(waitFor(rig.ledger.seen.path("go"))),
      rig.ledger.job(),
      rig.ledger.job(),
    ]);
    const args = [
      "jobs.sh",
      "--machines",
      await rig.host.machineFile("max_jobs: 1", rig.relay),
      ...LIGHT_NO_GPU,
    ];
    const client = spawnCommand(args, { cwd: rig.ledger.work.dir });
    await hasBegun(client, 1);
    rig.relay.refuse();
    rig.relay.cut();
    reboot();
    for (const key of ["5000000000001-1-1", "5000000000002-2-1"]) {
      writeFileSync(spool(`jobs/${key}/claim`), "");
      giveToRemote(spool(`jobs/${key}/claim`));
    }
    await rig.ledger.seen.write("go", "");
    rig.relay.accept();
    const { code, stdout, stderr } = await client.ended;
    expect(stdout, stderr).toContain("3 succeeded, 0 failed in");
    expect(code).toBe(0);
    expect([...(await rig.ledger.runs())].toSorted()).toEqual([
      [1, 2],
      [2, 1],
      [3, 1],
    ]);
  });
});

describe("killed, with the client watching:", () => {
  /** Line 1 runs on the only slot, the others wait. */
  async function oneByOne(...jobs: string[]): Promise<LiveCommand> {
    await rig.ledger.write(jobs);
    const args = [
      "jobs.sh",
      "--machines",
      await rig.host.machineFile("max_jobs: 1", rig.relay),
      ...LIGHT_NO_GPU,
    ];
    const client = spawnCommand(args, { cwd: rig.ledger.work.dir });
    await hasBegun(client, 1);
    return client;
  }

  test("the loop: its job finishes, and another loop continues", async () => {
    const client = await oneByOne(
      rig.ledger.job(waitFor(rig.ledger.seen.path("go"))),
      rig.ledger.job(),
      rig.ledger.job(),
    );
    killAll([pidIn("slots/0/loop")]);
    await rig.ledger.seen.write("go", "");
    await expectFine(client);
  });

  test("the keeper: the job still writes its exit code, and the loop continues", async () => {
    const [fine, failing] = ["go-1", "go-2"].map((name) => waitFor(rig.ledger.seen.path(name)));
    const client = await oneByOne(
      rig.ledger.job(fine),
      rig.ledger.job(`${failing}; exit 7`),
      rig.ledger.job(),
    );
    killAll([pidIn("slots/0/keeper")]);
    await rig.ledger.seen.write("go-1", "");
    await client.until(({ stdout }) => stdout().includes("started: jobs.sh.2"));
    killAll([pidIn("slots/0/keeper")]);
    await rig.ledger.seen.write("go-2", "");
    const { code, stdout, stderr } = await client.ended;
    expect(stdout, stderr).toContain("2 succeeded, 1 failed in");
    expect(stdout).toMatch(/^\S 2 {2}exit 7 {2}/m);
    expect(code).toBe(1);
    expect([...(await rig.ledger.runs()).values()]).toEqual([1, 1, 1]);
    // Unchanged inputs are no results, whichever process cleaned up.
    expect(listBelow(rig.ledger.work.path("job_results/jobs.sh.1"))).toEqual(["made.txt"]);
  });

  test("the loop and the keeper: the job finishes, and another loop continues", async () => {
    const client = await oneByOne(rig.ledger.job(waitFor(rig.ledger.seen.path("go"))), rig.ledger.job());
    killAll([pidIn("slots/0/loop"), pidIn("slots/0/keeper")]);
    await rig.ledger.seen.write("go", "");
    await expectFine(client);
  });

  test("the keeper and the job: it is lost, and retried", async () => {
    const client = await oneByOne(rig.ledger.job(waitFor(rig.ledger.seen.path("go"))), rig.ledger.job());
    killAll([pidIn("slots/0/keeper"), pidIn("slots/0/job")]);
    await rig.ledger.seen.write("go", "");
    await expectFine(client, new Map([[1, 2]]));
  });

  test("every process, by the signal of a shutdown or a logout: the job is lost, and retried", async () => {
    const client = await oneByOne(rig.ledger.job(waitFor(rig.ledger.seen.path("go"))), rig.ledger.job());
    rig.relay.refuse();
    rig.relay.cut();
    signalAll(rig.host.pids(), "SIGTERM");
    await until("all of them are gone", () => rig.host.pids().length === 0);
    await rig.ledger.seen.write("go", "");
    rig.relay.accept();
    await expectFine(client, new Map([[1, 2]]));
  });

  test("the job: it has failed, by that signal, and the slot continues", async () => {
    const client = await oneByOne(rig.ledger.job(waitFor(rig.ledger.seen.path("go"))), rig.ledger.job());
    killAll([pidIn("slots/0/job")]);
    const { code, stdout, stderr } = await client.ended;
    expect(stdout, stderr).toContain("1 succeeded, 1 failed in");
    expect(stdout).toMatch(/^\S 1 {2}SIGKILL {2}/m);
    expect(code).toBe(1);
    expect([...(await rig.ledger.runs()).values()]).toEqual([1, 1]);
  });

  test("the shell that answers the client: the client starts another one", async () => {
    const client = await oneByOne(rig.ledger.job(waitFor(rig.ledger.seen.path("go"))), rig.ledger.job());
    killAll([pidIn("holder")]);
    await client.until(({ stderr }) => stderr().includes("the link to one.yaml is back"));
    await rig.ledger.seen.write("go", "");
    await expectFine(client);
  });

  test("a loop that waits for room, while nothing of its batch runs", async () => {
    // For the probe, which asks first, the card is free. For slots it is full until a file exists.
    await rig.ledger.seen.write(
      "bin/nvidia-smi",
      `#!/bin/sh
case "$*" in
  *--query-gpu*)
    [ -e ${rig.ledger.seen.dir}/go ] || ! [ -e ${rig.ledger.seen.dir}/asked ] || export NVIDIA_SMI_STATE=${rig.ledger.seen.path("full.state")}
    touch ${rig.ledger.seen.dir}/asked
    ;;
esac
exec ${STAND_IN_BIN}/nvidia-smi "$@"
`,
    );
    const other = await startSshd({ name: "other", path: [rig.ledger.seen.path("bin")] });
    onTestFinished(() => other.stop());
    saveGpus(join(other.homeDir, "nvidia-smi.state"), { gpus: [{}] });
    saveGpus(rig.ledger.seen.path("full.state"), { gpus: [{ memoryFree: 12 }] });
    await rig.ledger.write([rig.ledger.job(), rig.ledger.job()]);
    const args = ["jobs.sh", "--machines", await other.machineFile(), ...LIGHT, "--json"];
    const client = spawnCommand(args, { cwd: rig.ledger.work.dir });
    await client.until(({ stdout }) => stdout().includes('"kind":"slot-waiting"'));
    killAll([pidIn("slots/0/loop", other)]);
    await rig.ledger.seen.write("go", "");
    const { code, stderr } = await client.ended;
    expect(await rig.ledger.audit([other]), stderr).toEqual([]);
    expect(code).toBe(0);
  });
});

test("a spool that was removed: the fate of its jobs is unknown, and none runs again", async () => {
  await rig.ledger.write([rig.ledger.job(waitFor(rig.ledger.seen.path("go"))), rig.ledger.job()]);
  const args = [
    "jobs.sh",
    "--machines",
    await rig.host.machineFile("max_jobs: 1", rig.relay),
    ...LIGHT_NO_GPU,
  ];
  const first = spawnCommand(args, { cwd: rig.ledger.work.dir });
  await first.until(({ stdout }) => stdout().includes("started: jobs.sh.1"));
  first.child.kill("SIGKILL");
  await first.ended;
  killAll(rig.host.pids());
  rmSync(spool(), { recursive: true });
  const { code, stdout, stderr } = await runCommand(args, { cwd: rig.ledger.work.dir });
  expect(stderr).toContain(
    "WARNING: one.yaml is left out: it no longer has the jobs that were handed over\n",
  );
  expect(stdout).toContain("2 lost: ");
  expect(code).toBe(1);
  // The job that began may have been ended before it printed anything.
  expect((await rig.ledger.runs()).size).toBeLessThanOrEqual(1);
});

test("one job that is missing in its spool: its fate is unknown, and the others are collected", async () => {
  await rig.ledger.write([rig.ledger.job(waitFor(rig.ledger.seen.path("go"))), rig.ledger.job()]);
  const args = [
    "jobs.sh",
    "--machines",
    await rig.host.machineFile("max_jobs: 1", rig.relay),
    ...LIGHT_NO_GPU,
  ];
  const first = spawnCommand(args, { cwd: rig.ledger.work.dir });
  await first.until(({ stdout }) => stdout().includes("started: jobs.sh.1"));
  first.child.kill("SIGKILL");
  await first.ended;
  rmSync(spool("jobs/5000000000002-2-1"), { recursive: true });
  await rig.ledger.seen.write("go", "");
  const { code, stdout, stderr } = await runCommand(args, { cwd: rig.ledger.work.dir });
  expect(stderr).toContain("WARNING: jobs.sh.2 is no longer on one.yaml: the outcome is unknown\n");
  expect(stdout).toContain("finished: jobs.sh.1;");
  expect(stdout).toContain("1 lost: ");
  expect(code).toBe(1);
});

test("a spool that is removed while it is followed: noticed, its jobs are unknown, the other machine continues", async () => {
  const other = await startSshd({ name: "other" });
  onTestFinished(() => other.stop());
  await rig.ledger.write([1, 2, 3, 4].map(() => rig.ledger.job(waitFor(rig.ledger.seen.path("go")))));
  const machines = [
    await rig.host.machineFile("max_jobs: 1", rig.relay),
    await other.machineFile("max_jobs: 1"),
  ];
  const args = ["jobs.sh", "--machines", ...machines, ...LIGHT_NO_GPU];
  const client = spawnCommand(args, { cwd: rig.ledger.work.dir });
  await client.until(({ stdout }) => (stdout().match(/^started: /gm) ?? []).length === 2);
  rmSync(spool(), { recursive: true, force: true, maxRetries: 5 });
  await client.until(({ stderr }) => stderr().includes("one.yaml is left out: it no longer has the jobs"));
  await rig.ledger.seen.write("go", "");
  const { code, stdout } = await client.ended;
  expect(stdout).toContain(" lost: their machine");
  expect(code).toBe(1);
});

test("a spool that is removed while it is followed, and made again by another client: its jobs are unknown", async () => {
  await rig.ledger.write([1, 2].map(() => rig.ledger.job(waitFor(rig.ledger.seen.path("go")))));
  const args = [
    "jobs.sh",
    "--machines",
    await rig.host.machineFile("max_jobs: 1", rig.relay),
    ...LIGHT_NO_GPU,
  ];
  const client = spawnCommand(args, { cwd: rig.ledger.work.dir });
  await client.until(({ stdout }) => stdout().includes("started: jobs.sh.1"));
  const [there, aside] = [spool(), join(rig.host.homeDir, "aside")];
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
  await rig.ledger.write([rig.ledger.job(waitFor(rig.ledger.seen.path("go")))]);
  const client = spawnCommand(await rig.batchArgs(), { cwd: rig.ledger.work.dir });
  await hasBegun(client, 1);
  mkdirSync(spool("slots/9"));
  writeFileSync(spool("slots/9/loop"), "4321 1 another-boot@node7\n");
  giveToRemote(spool("slots/9"));
  await client.until(({ stderr }) => stderr().includes("one.yaml: slot 9 runs on node7, and is not touched"));
  await rig.ledger.seen.write("go", "");
  const { code, stderr } = await client.ended;
  expect(stderr).toContain("one.yaml: the batch's directory stays: a slot of it runs on node7");
  expect(code).toBe(0);
  expect(readFileSync(spool("slots/9/loop"), "utf8")).toBe("4321 1 another-boot@node7\n");
});

test("300 MB without a line end in an event log: reported, and every job is collected", async () => {
  await rig.ledger.write([rig.ledger.job(waitFor(rig.ledger.seen.path("go"))), rig.ledger.job()]);
  const args = [
    "jobs.sh",
    "--machines",
    await rig.host.machineFile("max_jobs: 1", rig.relay),
    ...LIGHT_NO_GPU,
  ];
  const client = spawnCommand(args, { cwd: rig.ledger.work.dir });
  await client.until(({ stdout }) => stdout().includes("started: jobs.sh.1"));
  const log = join(spool(), "slots/0/events");
  truncateSync(log, statSync(log).size + 300e6);
  await rig.ledger.seen.write("go", "");
  const { code, stderr } = await client.ended;
  expect(stderr).toContain("WARNING: one.yaml: its event log has a line that is too long, which was skipped");
  expect(await rig.ledger.audit([rig.host]), stderr).toEqual([]);
  expect(code).toBe(0);
});
