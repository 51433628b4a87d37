// Disks that fill up or become read-only during a batch: nothing is freed on a machine until it is safe locally, the
// fault is reported, and the batch continues once there is room. (Disks that are full from the start:
// hostile-disks.test.ts.)

import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { LIGHT_NO_GPU, listBelow, waitFor } from "../rig/batch.js";
import { spawnCommand } from "../rig/command.js";
import { type Ledger, openLedger, sweep } from "../rig/ledger.js";
import { startSshd, type TestHost } from "../rig/sshd.js";
import { until } from "../rig/until.js";

const isRoot = process.getuid?.() === 0;
if (!isRoot) console.warn("SKIPPED: tests of disks that fill up, since only root can mount them");

let one: TestHost;
let two: TestHost;
let ledger: Ledger;
const mounted: string[] = [];

beforeAll(async () => {
  [one, two] = await Promise.all([startSshd({ name: "one" }), startSshd({ name: "two" })]);
});
beforeEach(async () => {
  ledger = await openLedger();
});
afterEach(async () => {
  await sweep(one, two);
  for (const dir of mounted.splice(0)) execFileSync("umount", ["-l", dir]);
  await ledger.remove();
});
afterAll(() => Promise.all([one?.stop(), two?.stop()]));

/** A separate disk, removed after the test. */
async function mountDisk(dir: string, options: string): Promise<string> {
  await mkdir(dir, { recursive: true });
  execFileSync("mount", ["-t", "tmpfs", "-o", options, "sshoal-test", dir]);
  mounted.push(dir);
  return dir;
}

function remount(dir: string, options: string): void {
  execFileSync("mount", ["-o", `remount,${options}`, dir]);
}

describe.skipIf(!isRoot)("on this computer", () => {
  /** job_results of the ledger's directory, on a separate disk. */
  const results = () => ledger.work.path("job_results");
  const spooled = (on: TestHost) => listBelow(join(on.homeDir, ".sshoal/batches"));

  async function batchArgs(): Promise<string[]> {
    return ["jobs.sh", "--machines", await one.machineFile("max_jobs: 2"), ...LIGHT_NO_GPU];
  }

  test("the disk fills up: results stay on the machine until there is room", async () => {
    await mountDisk(results(), "size=4m");
    const go = waitFor(ledger.seen.path("go"));
    await ledger.write([ledger.job(go), ledger.job(`${go}; head -c 300000 /dev/zero > big.bin`)]);
    const client = spawnCommand(await batchArgs(), { cwd: ledger.work.dir });
    await until("both run", async () => (await ledger.runs()).size === 2);
    await until("their output is here", () => existsSync(join(results(), "jobs.sh.2.out")));
    fill(results());
    await ledger.seen.write("go", "");
    await client.until(({ stderr }) => /WARNING: cannot write .* on this computer: .*ENOSPC/.test(stderr()));
    await until("both have ended", () => spooled(one).filter((path) => path.endsWith("/exit")).length === 2);
    expect(existsSync(join(results(), "jobs.sh.2"))).toBe(false);
    await rm(join(results(), "full"));
    const { code, stdout, stderr } = await client.ended;
    expect(code, stdout + stderr).toBe(0);
    expect(stdout).toContain("2 succeeded, 0 failed in");
    expect(listBelow(join(results(), "jobs.sh.2"))).toEqual(["big.bin", "made.txt"]);
    await rm(join(results(), "jobs.sh.2/big.bin"));
    expect(await ledger.audit([one])).toEqual([]);
  });

  test("the disk becomes read-only for a while", async () => {
    await mountDisk(results(), "size=4m");
    await ledger.write([
      ledger.job(waitFor(ledger.seen.path("go"))),
      ledger.job(waitFor(ledger.seen.path("go"))),
    ]);
    const client = spawnCommand(await batchArgs(), { cwd: ledger.work.dir });
    await client.until(({ stdout }) => stdout().includes("started: jobs.sh.2"));
    // The open record prevents a remount of the disk; a bind mount over itself works.
    execFileSync("mount", ["--bind", results(), results()]);
    mounted.push(results());
    remount(results(), "ro,bind");
    await ledger.seen.write("go", "");
    await client.until(({ stderr }) => /WARNING: cannot write .* on this computer: /.test(stderr()));
    await until("both have ended", () => spooled(one).filter((path) => path.endsWith("/exit")).length === 2);
    remount(results(), "rw,bind");
    const { code, stdout, stderr } = await client.ended;
    expect(await ledger.audit([one]), stdout + stderr).toEqual([]);
    expect(code).toBe(0);
  });

  test("the record cannot be written: nothing happens that would not be recorded", async () => {
    await mountDisk(results(), "size=1m");
    await ledger.write(Array.from({ length: 40 }, () => ledger.job(waitFor(ledger.seen.path("go")))));
    const client = spawnCommand(await batchArgs(), { cwd: ledger.work.dir });
    await until("two run", async () => (await ledger.runs()).size === 2);
    fill(results());
    await ledger.seen.write("go", "");
    await client.until(({ stderr }) =>
      /WARNING: cannot write the record on this computer: .*ENOSPC/.test(stderr()),
    );
    client.child.kill("SIGKILL");
    await client.ended;
    const record = () => ledger.work.read("job_results/.sshoal/jobs.sh.jsonl");
    expect((await record()).endsWith("\n")).toBe(true);
    await rm(join(results(), "full"));
    const again = await spawnCommand(await batchArgs(), { cwd: ledger.work.dir }).ended;
    expect(await ledger.audit([one]), again.stdout + again.stderr).toEqual([]);
    expect(again.code).toBe(0);
  });

  test("from the start: that is reported, and nothing begins", async () => {
    await mountDisk(results(), "size=1m");
    await mkdir(join(results(), ".sshoal"));
    await ledger.write([ledger.job()]);
    fill(results());
    const { code, stderr } = await spawnCommand(await batchArgs(), { cwd: ledger.work.dir }).ended;
    expect(stderr).toMatch(/^error: .*job_results\/\.sshoal cannot be written: ENOSPC/m);
    expect(code).toBe(2);
    expect((await ledger.runs()).size).toBe(0);
  });
});

/** With a file that uses all free space. */
function fill(dir: string): void {
  try {
    execFileSync("dd", ["if=/dev/zero", `of=${join(dir, "full")}`, "bs=4k"], { stdio: "ignore" });
  } catch {
    // dd reports a full disk, as expected.
  }
}

describe.skipIf(!isRoot)("on a machine", () => {
  test("a disk fills up while jobs run and wait: the failed jobs are reported, the others continue, and the batch ends", async () => {
    const disk = await mountDisk(ledger.seen.path("disk"), "size=3m");
    const go = waitFor(ledger.seen.path("go"));
    await ledger.write(
      Array.from({ length: 6 }, () => ledger.job(`[ $SSHOAL_MACHINE = two.yaml ] || ${go}`)),
    );
    const machines = [
      await one.machineFile(`max_jobs: 1\nscratch: ${disk}`),
      await two.machineFile("max_jobs: 1"),
    ];
    const client = spawnCommand(["jobs.sh", "--machines", ...machines, ...LIGHT_NO_GPU], {
      cwd: ledger.work.dir,
    });
    await until("it runs", async () => (await ledger.runs()).has(1));
    fill(disk);
    await ledger.seen.write("go", "");
    await client.until(({ stdout }) => (stdout().match(/^finished: /gm)?.length ?? 0) >= 3);
    await rm(join(disk, "full"));
    const { code, stdout, stderr } = await client.ended;
    expect(stdout, stderr).toContain("5 succeeded, 1 failed in");
    expect(await ledger.work.read("job_results/jobs.sh.1.err")).toContain("the disk is full here: ");
    expect(code).toBe(1);
    expect([...(await ledger.runs()).values()]).toEqual([1, 1, 1, 1, 1, 1]);
    expect(listBelow(join(disk, ".sshoal/batches"))).toEqual([]);
  });

  test("a disk that is full when the jobs arrive: the other machine gets them", async () => {
    const disk = await mountDisk(ledger.seen.path("disk"), "size=1m");
    fill(disk);
    await ledger.write([ledger.job(), ledger.job(), ledger.job()]);
    const machines = [
      await one.machineFile(`max_jobs: 1\nscratch: ${disk}`),
      await two.machineFile("max_jobs: 1"),
    ];
    const client = spawnCommand(["jobs.sh", "--machines", ...machines, ...LIGHT_NO_GPU], {
      cwd: ledger.work.dir,
    });
    const { code, stdout, stderr } = await client.ended;
    expect(stderr).toMatch(/WARNING: one\.yaml gets no jobs: .*(space|room)/i);
    expect(await ledger.audit([two]), stdout + stderr).toEqual([]);
    expect(code).toBe(0);
  });
});
