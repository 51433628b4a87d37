// Machines apart from a batch: probing them, a dry run, sharing them with another batch, and running without them.

import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import {
  EMPTY_SPOOL,
  LIGHT,
  LIGHT_NO_GPU,
  listBelow,
  listSpool,
  parseEvents,
  waitFor,
} from "../rig/batch.js";
import { type LiveCommand, runCommand, spawnCommand } from "../rig/command.js";
import { STAND_IN_BIN, saveGpus } from "../rig/gpus.js";
import { type BatchHost, hasManyMachines, startHost } from "../rig/host.js";
import { makeHome } from "../rig/own-home.js";
import { killAll, pidsWithHome } from "../rig/processes.js";
import { startSshd } from "../rig/sshd.js";
import { until } from "../rig/until.js";
import { makeWorkspace, type Workspace } from "../rig/workspace.js";

let gpu: BatchHost;
let plain: BatchHost;
let work: Workspace;
let seen: Workspace;

beforeAll(async () => {
  [gpu, plain] = await Promise.all([
    startHost({ name: "gpu", path: [STAND_IN_BIN] }),
    startHost({ name: "plain" }),
  ]);
  saveGpus(join(gpu.homeDir, "nvidia-smi.state"), { gpus: [{}, { name: "NVIDIA A100", memoryFree: 500 }] });
});
beforeEach(async () => {
  [work, seen] = await Promise.all([makeWorkspace(), makeWorkspace()]);
});
afterEach(() => Promise.all([work.remove(), seen.remove()]));
afterAll(() => Promise.all([gpu?.stop(), plain?.stop()]));

test.runIf(hasManyMachines)(
  "sshoal probe shows what is free on each machine, and why there is no more room",
  async () => {
    const machines = [await gpu.machineFile(), await plain.machineFile()];
    const { code, stdout } = await runCommand(["probe", "--machines", ...machines, ...LIGHT], {
      program: "sshoal",
      cwd: work.dir,
    });
    expect(code).toBe(0);
    expect(stdout.split("\n")).toEqual([
      "MACHINE    CARD        MEMORY GB              USE  WHO",
      "gpu.yaml   0 RTX 3090     0.3/24 ::::::::::    0%",
      "           1 A100        23.5/24 %%%%%%%%%%    0%",
      expect.stringMatching(/^ {11}[\d.]+ cores +[\d.]+\/\d+ [#%:]{10} +\d+%/),
      expect.stringMatching(/^plain.yaml [\d.]+ cores +[\d.]+\/\d+ [#%:]{10} +\d+%/),
      "",
      "machine     slots  cores free  memory free",
      expect.stringMatching(/^gpu\.yaml {4}1 {6}[\d.]+ of [\d.]+ +\d+ of \d+ MB$/),
      "  GPU 0: one job at a time (--no-reserve-gpu lets several share it)",
      "  GPU 1: memory: a job needs 1000 MB, 500 MB are free: 500 MB short (lower",
      "  --gpu-memory-required, now 1000)",
      expect.stringMatching(/^plain\.yaml {2}0 {6}[\d.]+ of [\d.]+ +\d+ of \d+ MB$/),
      "  GPU: a job needs one, none was found: no NVIDIA driver (no nvidia-smi) and no",
      "  AMD card (jobs that use no GPU: --no-gpu-required)",
      "",
    ]);
    expect(listBelow(plain.homeDir)).toEqual([]);
  },
);

test("sshoal probe --json: one object per machine, and one bad machine does not affect the others", async () => {
  const bad = await work.write("bad.yaml", "ip: 127.0.0.1\nport: 1\nssh_key_path: key\n");
  await work.write("key", "no key at all\n");
  const { code, stdout } = await runCommand(
    ["probe", "--json", "--machines", await gpu.machineFile(), bad, ...LIGHT],
    { program: "sshoal", cwd: work.dir },
  );
  expect(code).toBe(0);
  const [first, second, ...none] = parseEvents(stdout);
  expect(first).toMatchObject({
    v: 1,
    kind: "probed",
    machine: "gpu.yaml",
    capacity: {
      cpus: { total: expect.any(Number), free: expect.any(Number) },
      memory: { totalMb: expect.any(Number), freeMb: expect.any(Number) },
      gpus: [
        { index: 0, vendor: "nvidia", memoryFreeMb: 24268 },
        { index: 1, name: "NVIDIA A100" },
      ],
      gpuProblem: null,
      claims: [],
    },
    slots: [{ index: 0, gpus: [{ index: 0 }] }],
  });
  expect(second).toMatchObject({
    v: 1,
    kind: "failed",
    machine: "bad.yaml",
    reason: expect.stringContaining("cannot use the key"),
    hint: expect.stringContaining("ssh-keygen"),
  });
  expect(none).toEqual([]);
});

test.runIf(hasManyMachines)("--dry-run shows slots and first commands, and changes nothing", async () => {
  await work.write("jobs.sh", "echo one\necho two\necho three\n");
  const before = listBelow(gpu.homeDir);
  const machines = [await gpu.machineFile("max_jobs: 1"), await plain.machineFile("max_jobs: 1")];
  const args = ["jobs.sh", "--dry-run", "--machines", ...machines, ...LIGHT];
  const withGpu = await runCommand(args, { cwd: work.dir });
  expect(withGpu.stdout.split("\n")).toEqual([
    "machine limits:  {'gpu.yaml': 1, 'plain.yaml': 0}",
    "machine gpu choices: [[0], []]",
    "would start on gpu.yaml: jobs.sh.1;  export CUDA_VISIBLE_DEVICES=0 && echo one",
    "",
  ]);
  expect(withGpu.stderr).toContain("WARNING: plain.yaml is left out: GPU: a job needs one, none was found");
  expect(withGpu.code).toBe(0);

  const json = await runCommand([...args, "--no-gpu-required", "--json"], { cwd: work.dir });
  const starts = parseEvents(json.stdout).filter(({ kind }) => kind === "would-start");
  expect(starts).toEqual([
    { v: 2, kind: "would-start", job: 1, name: "jobs.sh.1", line: 1, machine: "gpu.yaml", slot: 0 },
    { v: 2, kind: "would-start", job: 2, name: "jobs.sh.2", line: 2, machine: "plain.yaml", slot: 0 },
  ]);
  expect(listBelow(work.dir)).toEqual(["jobs.sh"]);
  expect(listBelow(gpu.homeDir)).toEqual(before);
  expect(listBelow(plain.homeDir)).toEqual([]);
});

/** Starts a batch of one job that waits for `seen`/go, and returns once it runs. */
async function occupy(host: BatchHost, machine: string, extra: readonly string[]): Promise<LiveCommand> {
  await seen.write("work/first.sh", `echo $CUDA_VISIBLE_DEVICES; ${waitFor(seen.path("go"))}\n`);
  const args = ["first.sh", "--machines", await host.machineFile(machine), ...extra];
  const command = spawnCommand(args, { cwd: seen.path("work") });
  await command.until(({ stdout }) => stdout().includes("started: first.sh.1"));
  return command;
}

async function release(command: LiveCommand): Promise<void> {
  await seen.write("go", "");
  expect((await command.ended).code).toBe(0);
}

test("a second batch does not use the card of the first one", async () => {
  const host = await startHost({ name: "shared", path: [STAND_IN_BIN] });
  onTestFinished(() => host.stop());
  saveGpus(join(host.homeDir, "nvidia-smi.state"), { gpus: [{}, {}] });
  const first = await occupy(host, "", LIGHT);
  await work.write("jobs.sh", "echo $CUDA_VISIBLE_DEVICES\necho $CUDA_VISIBLE_DEVICES\n");
  const args = ["jobs.sh", "--machines", await host.machineFile(), ...LIGHT];
  const { code, stdout } = await runCommand(args, { cwd: work.dir });
  expect(stdout).toContain("machine limits:  {'shared.yaml': 1}\n");
  expect(code).toBe(0);
  expect(first.child.exitCode).toBeNull();
  await release(first);
  const taken = (await seen.read("work/job_results/first.sh.1.out")).trim();
  const others = [await work.read("job_results/jobs.sh.1.out"), await work.read("job_results/jobs.sh.2.out")];
  expect(new Set([taken, ...others.map((text) => text.trim())])).toEqual(new Set(["0", "1"]));
  expect(others).not.toContain(`${taken}\n`);
  expect(listSpool(join(host.homeDir, ".sshoal"))).toEqual(EMPTY_SPOOL);
});

test("a second batch learns which batch has what it needs, waits, and runs once the first is over", async () => {
  await work.write("jobs.sh", "true\n");
  const cases: [machine: string, first: string[], second: string[], reason: string][] = [
    ["gpus: [0]", LIGHT, LIGHT, "card 0 runs first.sh 1; card 1: excluded\n"],
    ["max_jobs: 1", LIGHT_NO_GPU, LIGHT_NO_GPU, "runs at most 1 (max_jobs)\n"],
    ["", [...LIGHT, "--reserve"], LIGHT, "reserved or used by first.sh"],
    ["max_jobs: 3", LIGHT_NO_GPU, [...LIGHT_NO_GPU, "--reserve"], "reserved or used by first.sh"],
  ];
  for (const [machine, ofFirst, ofSecond, reason] of cases) {
    const first = await occupy(gpu, machine, ofFirst);
    const args = ["jobs.sh", "--machines", await gpu.machineFile(machine), ...ofSecond, "--rerun", "all"];
    const second = spawnCommand(args, { cwd: work.dir });
    await second.until(({ stderr }) => stderr().includes(`waiting: gpu.yaml; ${reason}`));
    expect(second.stdout()).toContain("machine limits:  {'gpu.yaml': 0}\nmachine gpu choices: [[]]\n");
    expect(second.child.exitCode).toBeNull();
    await release(first);
    expect((await second.ended).code).toBe(0);
    await seen.remove();
    await mkdir(seen.dir);
  }
});

test("without --machines jobs run on this computer, without ssh", async () => {
  const home = await makeHome();
  onTestFinished(() => {
    killAll(pidsWithHome(home.dir));
    return home.remove();
  });
  await work.write("in.txt", "input\n");
  await work.write("jobs.sh", "cat in.txt; echo $SSHOAL_MACHINE > made.txt\npwd; exit 2\n");
  // Cores may be overloaded by two, so one job fits at any load.
  const args = [
    "jobs.sh",
    "--num-cpus",
    "2",
    "--memory-required",
    "1",
    "--no-gpu-required",
    "--copy-forward",
    "./",
  ];
  await seen.write("bin/ssh", `#!/bin/sh\ntouch ${seen.dir}/asked\n`);
  const PATH = `${seen.path("bin")}:${process.env.PATH}`;
  const result = await runCommand(args, { cwd: work.dir, home: home.dir, env: { PATH } });
  expect(result.stdout).toMatch(/machine limits: {2}\{'localhost': [12]\}\n/);
  expect(result.stdout).toContain("1 succeeded, 1 failed in");
  expect(result.stderr).toMatch(/^copying 2 files, \d+ B\n$/);
  expect(result.code).toBe(1);
  expect(await work.read("job_results/jobs.sh.1.out")).toBe("input\n");
  expect(listBelow(work.path("job_results/jobs.sh.1"))).toEqual(["made.txt"]);
  expect(await work.read("job_results/jobs.sh.1/made.txt")).toBe("localhost\n");
  expect(await work.read("job_results/jobs.sh.2.out")).toMatch(`${home.dir}/.sshoal/batches/`);
  expect(existsSync(seen.path("asked"))).toBe(false);
  expect(existsSync(home.path(".ssh"))).toBe(false);
  expect(listSpool(home.path(".sshoal"))).toEqual(EMPTY_SPOOL);
  await until("nothing of it runs any more", () => pidsWithHome(home.dir).length === 0);
});

test.runIf(hasManyMachines)(
  "three sessions at a time are enough, although shells are started in advance",
  async () => {
    const narrow = await startSshd({ name: "narrow", config: ["MaxSessions 3"] });
    onTestFinished(() => narrow.stop());
    await work.write("jobs.sh", "echo one\necho two > made\n");
    const args = ["jobs.sh", ...LIGHT_NO_GPU, "--machines", await narrow.machineFile()];
    const { code } = await runCommand(args, { cwd: work.dir });
    expect(code).toBe(0);
    expect(await work.read("job_results/jobs.sh.2/made")).toBe("two\n");
    expect(listSpool(join(narrow.homeDir, ".sshoal"))).toEqual(EMPTY_SPOOL);
  },
);
