// Disks that are full or not writable, and machines without the usual tools: reported clearly, and nothing is lost.

import { execFileSync } from "node:child_process";
import { mkdir, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { LIGHT_NO_GPU, listBelow, listTrees, waitFor } from "../rig/batch.js";
import { runCommand, spawnCommand } from "../rig/command.js";
import { startSshd, type TestHost } from "../rig/sshd.js";
import { until } from "../rig/until.js";
import { makeWorkspace, type Workspace } from "../rig/workspace.js";

const isRoot = process.getuid?.() === 0;
if (!isRoot) console.warn("SKIPPED: tests of full and read-only disks, since only root can mount them");

let host: TestHost;
let work: Workspace;
let seen: Workspace;
const mounted: string[] = [];

beforeAll(async () => {
  host = await startSshd({ name: "box" });
});
beforeEach(async () => {
  [work, seen] = await Promise.all([makeWorkspace(), makeWorkspace()]);
});
afterEach(async () => {
  for (const dir of mounted.splice(0)) execFileSync("umount", ["-l", dir]);
  await Promise.all([work.remove(), seen.remove()]);
});
afterAll(() => host?.stop());

/** A separate disk, removed after the test. */
async function mountDisk(dir: string, options: string): Promise<string> {
  await mkdir(dir, { recursive: true });
  execFileSync("mount", ["-t", "tmpfs", "-o", options, "sshoal-test", dir]);
  mounted.push(dir);
  return dir;
}

async function argsFor(on: TestHost, machine = ""): Promise<string[]> {
  return ["jobs.sh", "--machines", await on.machineFile(`max_jobs: 1\n${machine}`), ...LIGHT_NO_GPU];
}

describe.skipIf(!isRoot)("on a machine", () => {
  test("a disk that is too small for the working directory: that machine is left out, before anything is sent", async () => {
    const disk = await mountDisk(seen.path("disk"), "size=1m");
    await work.write("big.bin", Buffer.alloc(3 << 20, 1));
    await work.write("jobs.sh", "echo ran\n");
    const args = await argsFor(host, `scratch: ${disk}`);
    const { code, stderr } = await runCommand(args, { cwd: work.dir });
    expect(stderr).toMatch(
      /WARNING: box\.yaml gets no jobs: copying the working directory failed: not enough space: 4 MB to copy, \d MB free in \S+\nfree space on the machine, or set scratch: in its machine file to a larger disk\n/,
    );
    expect(code).toBe(3);
    expect(listTrees(join(disk, ".sshoal"))).toEqual([]);
  });

  test("a disk that a job fills: the job fails, and what it could write is collected", async () => {
    const disk = await mountDisk(seen.path("disk"), "size=2m");
    const fill = "echo begun; echo small > small.txt; dd if=/dev/zero of=big.bin bs=64k count=1000";
    await work.write("jobs.sh", `${fill}\n`);
    const args = await argsFor(host, `scratch: ${disk}`);
    const { code, stdout, stderr } = await runCommand(args, { cwd: work.dir });
    expect(stdout, stderr).toMatch(/failed: jobs\.sh\.1;/);
    expect(code).toBe(1);
    expect(await work.read("job_results/jobs.sh.1.out")).toBe("begun\n");
    expect(await work.read("job_results/jobs.sh.1.err")).toMatch(/sshoal: the disk is full here: \S+\n$/);
    expect(await work.read("job_results/jobs.sh.1/small.txt")).toBe("small\n");
  });

  test("a home that is not writable: reported with a hint, which works", async () => {
    const other = await startSshd({ name: "other" });
    onTestFinished(() => other.stop());
    await mountDisk(other.homeDir, "size=1m,ro");
    await work.write("jobs.sh", "echo ran\n");
    const { code, stderr } = await runCommand(await argsFor(other), { cwd: work.dir });
    expect(stderr).toMatch(
      /WARNING: other\.yaml gets no jobs: .*Read-only file system\nin its machine file, set scratch: /,
    );
    expect(code).toBe(3);
    const args = await argsFor(other, `scratch: ${seen.path("scratch")}`);
    const again = await runCommand(args, { cwd: work.dir });
    expect(again.code, again.stderr).toBe(0);
    expect(await work.read("job_results/jobs.sh.1.out")).toBe("ran\n");
  });
});

test("a home that does not exist", async () => {
  const other = await startSshd({ name: "other" });
  onTestFinished(() => other.stop());
  await work.write("jobs.sh", "echo ran\n");
  const args = await argsFor(other);
  await rm(other.homeDir, { recursive: true });
  const { code, stderr } = await runCommand(args, { cwd: work.dir });
  expect(stderr).toMatch(/WARNING: other\.yaml is left out: .*home/);
  expect(code).toBe(3);
});

/** A directory with every program of this machine except some. */
async function programsWithout(...names: string[]): Promise<string> {
  const bin = seen.path("bin");
  await mkdir(bin);
  const programs = (await readdir("/usr/bin")).filter((name) => !names.includes(name));
  await Promise.all(programs.map((name) => symlink(`/usr/bin/${name}`, join(bin, name))));
  return bin;
}

describe("no", () => {
  for (const tool of ["tar", "setsid"]) {
    test(`${tool} on the machine: it is left out, and the batch runs on the other`, async () => {
      const poor = await startSshd({ name: "poor", env: { PATH: await programsWithout(tool) } });
      onTestFinished(() => poor.stop());
      await work.write("jobs.sh", "echo ran\necho ran\n");
      const machines = [await poor.machineFile("max_jobs: 1"), await host.machineFile("max_jobs: 1")];
      const args = ["jobs.sh", "--machines", ...machines, ...LIGHT_NO_GPU];
      const { code, stdout, stderr } = await runCommand(args, { cwd: work.dir });
      expect(stderr).toMatch(
        new RegExp(`WARNING: poor\\.yaml gets no jobs: .*there is no ${tool} on the machine\n`),
      );
      expect(stdout).toContain("2 succeeded, 0 failed");
      expect(code).toBe(0);
      // A script that was to follow the batch ends within seconds, because there is no spool.
      await until("no process is left", () => poor.pids().length === 0);
    });
  }

  test("flock, nvidia-smi or getconf on the machine: the batch still runs", async () => {
    const poor = await startSshd({ name: "poor", env: { PATH: await programsWithout("flock", "getconf") } });
    onTestFinished(() => poor.stop());
    await work.write("jobs.sh", "echo one\necho two\necho three\n");
    const args = ["jobs.sh", "--machines", await poor.machineFile("max_jobs: 2"), ...LIGHT_NO_GPU];
    const { code, stdout, stderr } = await runCommand(args, { cwd: work.dir });
    expect(stdout, stderr).toContain("3 succeeded, 0 failed");
    expect(code).toBe(0);
  });
});

describe.skipIf(!isRoot)("on this computer", () => {
  test("a full disk: that is reported, results stay on their machine, and are collected once there is room", async () => {
    const disk = await mountDisk(seen.path("disk"), "size=2m");
    await writeFile(join(disk, "jobs.sh"), "head -c 5000000 /dev/zero > big.bin\n");
    const command = spawnCommand(await argsFor(host), { cwd: disk });
    await command.until(({ stderr }) => stderr().includes("cannot write results on this computer"));
    expect(command.stderr()).toMatch(/WARNING: cannot write results on this computer: ENOSPC.*; retrying\n/);
    expect(listBelow(join(host.homeDir, ".sshoal/batches"))).toContainEqual(
      expect.stringMatching(/\/jobs\/[^/]+\/work\/big\.bin$/),
    );
    execFileSync("mount", ["-o", "remount,size=50m", disk]);
    const { code, stdout, stderr } = await command.ended;
    expect(code, stdout + stderr).toBe(0);
    expect((await stat(join(disk, "job_results/jobs.sh.1/big.bin"))).size).toBe(5_000_000);
    expect(listBelow(join(host.homeDir, ".sshoal/batches"))).toEqual([]);
  });

  test("a disk that a job's output fills: nothing is missing in the end", async () => {
    const disk = await mountDisk(seen.path("disk"), "size=2m");
    await writeFile(join(disk, "jobs.sh"), `seq 700000; ${waitFor(seen.path("go"))}; echo last\n`);
    const out = join(disk, "job_results/jobs.sh.1.out");
    const command = spawnCommand(await argsFor(host), { cwd: disk });
    // Less than all of it fits.
    await until("it is full", async () => ((await stat(out).catch(() => null))?.size ?? 0) > 1_000_000);
    await seen.write("go", "");
    await command.until(({ stderr }) => stderr().includes("cannot write results on this computer"));
    execFileSync("mount", ["-o", "remount,size=50m", disk]);
    const { code, stdout, stderr } = await command.ended;
    expect(code, stdout + stderr).toBe(0);
    const expected = `${Array.from({ length: 700_000 }, (_, index) => index + 1).join("\n")}\nlast\n`;
    expect((await readFile(out, "utf8")) === expected).toBe(true);
  });
});
