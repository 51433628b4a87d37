// A client is upgraded while the jobs of an older one run: running jobs are followed, and waiting ones go to a new
// spool.

import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type JsonEvent, parseEvents } from "../rig/batch.js";
import { type LiveCommand, runCommand, spawnCommand } from "../rig/command.js";
import {
  OLDER_BATCH,
  OLDER_VERSIONS,
  type OlderBatch,
  RECENT_VERSIONS,
  startOlderBatch,
} from "../rig/older-spool.js";
import { startSshd, type TestHost } from "../rig/sshd.js";
import { until } from "../rig/until.js";
import { makeWorkspace } from "../rig/workspace.js";

const SMALL = ["--no-gpu-required", "--memory-required", "10", "--num-cpus", "0.1"];
const OLDER = "one.yaml (older spool)";

async function begin(version: Parameters<typeof startOlderBatch>[0]) {
  const host = await startSshd({ name: "one" });
  const batch = await startOlderBatch(version, host);
  return { host, batch, machine: await host.machineFile("max_jobs: 1") };
}

async function end({ host, batch }: { readonly host: TestHost; readonly batch: OlderBatch }): Promise<void> {
  await host.stop();
  await Promise.all([batch.work.remove(), batch.gate.remove()]);
}

describe.each(OLDER_VERSIONS)("from %s", (version) => {
  let host: TestHost;
  let machine: string;
  let batch: OlderBatch;

  beforeEach(async () => {
    ({ host, machine, batch } = await begin(version));
  });
  afterEach(() => end({ host, batch }));

  const eventsOf = ({ stdout }: LiveCommand): JsonEvent[] =>
    parseEvents(stdout().slice(0, stdout().lastIndexOf("\n") + 1));

  async function expectNothingLeft(): Promise<void> {
    const batches = path.join(host.homeDir, ".sshoal/batches");
    expect(existsSync(batches) ? await readdir(batches) : []).toEqual([]);
    await until("no process is left", () => host.pids().length === 0);
  }

  async function expectEachOnce(): Promise<void> {
    expect((await batch.ran()).toSorted()).toEqual(["1", "2", "3", "4"]);
  }

  test("the same command follows running jobs, and runs waiting ones in a new spool", async () => {
    const args = ["jobs.sh", "--machines", machine, ...SMALL];
    const client = spawnCommand([...args, "--json"], { cwd: batch.work.dir });
    await client.until((each) =>
      eventsOf(each).some(({ kind, machine: name }) => kind === "jobs-handed-over" && name === "one.yaml"),
    );
    await batch.gate.write("go", "");
    const { code, stdout, stderr } = await client.ended;
    expect(code, stdout + stderr).toBe(0);
    await expectEachOnce();
    const collected = parseEvents(stdout).filter(({ kind }) => kind === "job-collected");
    expect(collected.map(({ job, machine: name }) => [job, name]).sort()).toEqual([
      [1, OLDER],
      [2, "one.yaml"],
      [3, "one.yaml"],
      [4, "one.yaml"],
    ]);
    for (const job of [1, 2, 3, 4])
      expect(await batch.work.read(`job_results/jobs.sh.${job}/made.txt`)).toBe(`made by ${job}\n`);
    await expectNothingLeft();

    const again = await runCommand(args, { cwd: batch.work.dir });
    expect(again.code, again.stderr).toBe(0);
    await expectEachOnce();
  });

  test("after a client was killed on the way, the next one continues, and nothing runs twice", async () => {
    const args = ["jobs.sh", "--machines", machine, ...SMALL, "--json"];
    const first = spawnCommand(args, { cwd: batch.work.dir });
    await first.until((each) => eventsOf(each).some(({ kind }) => kind === "jobs-taken-back"));
    first.child.kill("SIGKILL");
    await first.ended;
    const next = spawnCommand(args, { cwd: batch.work.dir });
    await next.until((each) => eventsOf(each).some(({ kind, job }) => kind === "job-started" && job === 1));
    await batch.gate.write("go", "");
    const { code, stdout, stderr } = await next.ended;
    expect(code, stdout + stderr).toBe(0);
    await expectEachOnce();
    await expectNothingLeft();
  });

  test("status reads the older spool", async () => {
    const look = async (...args: string[]) =>
      (await runCommand(args, { cwd: batch.work.dir, program: "sshoal" })).stdout;
    const statuses = parseEvents(await look("status", "--json"));
    // Keys of the first format have no rank.
    const keyOf = (job: number) =>
      ["0.1.0", "before-0.2"].includes(version) ? `000000${job}-1` : `500000000000${job}-${job}-1`;
    expect(statuses.map(({ state, key }) => [state, key])).toEqual([
      ["running", keyOf(1)],
      ["waiting", keyOf(2)],
      ["waiting", keyOf(3)],
      ["waiting", keyOf(4)],
    ]);
    await batch.gate.write("go", "");
    await until("the last job has ended", async () => (await look("status")).includes("4 succeeded"));
  });

  test("drain prevents its waiting jobs from beginning; the same command runs them in the new spool", async () => {
    const drained = await runCommand(["drain", "one.yaml"], { cwd: batch.work.dir, program: "sshoal" });
    expect(drained.stdout, drained.stderr).toBe(`draining: one.yaml; ${OLDER_BATCH}\n`);
    await batch.gate.write("go", "");
    await until("the loop has ended", () => host.pids().length === 0);
    expect(await batch.ran()).toEqual(["1"]);
    const { code, stderr } = await runCommand(["jobs.sh", "--machines", machine, ...SMALL], {
      cwd: batch.work.dir,
    });
    expect(code, stderr).toBe(0);
    await expectEachOnce();
    await expectNothingLeft();
  });

  test("stop ends its running and waiting jobs, and collects their results", async () => {
    const stopped = await runCommand(["stop", "jobs.sh"], { cwd: batch.work.dir, program: "sshoal" });
    const status = await runCommand(["status", "--json"], { cwd: batch.work.dir, program: "sshoal" });
    expect(
      parseEvents(status.stdout).map(({ job, state, collected }) => [job, state, collected]),
      stopped.stdout + stopped.stderr + status.stderr,
    ).toEqual([1, 2, 3, 4].map((job) => [job, "stopped", expect.any(Boolean)]));
    // A slot may have taken another job in the meantime, which was then stopped as well.
    const ran = await batch.ran();
    expect(ran).toEqual([...new Set(ran)]);
    await expectNothingLeft();
  });

  test("attach from another computer collects everything", async () => {
    const elsewhere = await makeWorkspace();
    const client = spawnCommand(["attach", OLDER_BATCH, "--machines", machine], {
      cwd: elsewhere.dir,
      program: "sshoal",
    });
    await client.until(({ stdout }) => stdout().includes("started: jobs.sh.1;"));
    await batch.gate.write("go", "");
    const { code, stdout, stderr } = await client.ended;
    expect(code, stdout + stderr).toBe(0);
    await expectEachOnce();
    for (const job of [1, 2, 3, 4])
      expect(await elsewhere.read(`job_results/jobs.sh.${job}/made.txt`)).toBe(`made by ${job}\n`);
    await expectNothingLeft();
    await elsewhere.remove();
  });
});

describe.each(RECENT_VERSIONS)("from %s, whose spools are as those of today", (version) => {
  let host: TestHost;
  let machine: string;
  let batch: OlderBatch;

  beforeEach(async () => {
    ({ host, machine, batch } = await begin(version));
  });
  afterEach(() => end({ host, batch }));

  test("the same command follows and collects all jobs in their spool; each runs once", async () => {
    const args = ["jobs.sh", "--machines", machine, ...SMALL];
    const client = spawnCommand([...args, "--json"], { cwd: batch.work.dir });
    await client.until(({ stdout }) => stdout().includes('"kind":"job-started"'));
    await batch.gate.write("go", "");
    const { code, stdout, stderr } = await client.ended;
    expect(code, stdout + stderr).toBe(0);
    expect(await batch.ran()).toEqual(["1", "2", "3", "4"]);
    const collected = parseEvents(stdout).filter(({ kind }) => kind === "job-collected");
    expect(collected.map(({ job, machine: name }) => [job, name]).sort()).toEqual(
      [1, 2, 3, 4].map((job) => [job, "one.yaml"]),
    );
    for (const job of [1, 2, 3, 4])
      expect(await batch.work.read(`job_results/jobs.sh.${job}/made.txt`)).toBe(`made by ${job}\n`);
    expect(await readdir(path.join(host.homeDir, ".sshoal/batches"))).toEqual([]);
    await until("no process is left", () => host.pids().length === 0);
  });

  test("stop ends its running and waiting jobs", async () => {
    const stopped = await runCommand(["stop", "jobs.sh"], { cwd: batch.work.dir, program: "sshoal" });
    expect(stopped.code, stopped.stdout + stopped.stderr).toBe(0);
    const { stdout } = await runCommand(["status", "--json"], { cwd: batch.work.dir, program: "sshoal" });
    expect(parseEvents(stdout).map(({ state }) => state)).toEqual(Array(4).fill("stopped"));
    // A slot may have taken another job in the meantime, which was then stopped as well.
    const ran = await batch.ran();
    expect(ran).toEqual([...new Set(ran)]);
    await until("no process is left", () => host.pids().length === 0);
  });
});
