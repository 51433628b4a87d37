// Acting on a batch from another terminal: attach, stop, retry, drain.

import { existsSync } from "node:fs";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runCommand, spawnCommand } from "../rig/command.js";
import { startSshd, type TestHost } from "../rig/sshd.js";
import { until } from "../rig/until.js";
import { makeWorkspace, type Workspace } from "../rig/workspace.js";

const SMALL = ["--no-gpu-required", "--memory-required", "10", "--num-cpus", "0.1"];
let a: TestHost;
let b: TestHost;
let machines: string[];

beforeAll(async () => {
  [a, b] = await Promise.all([startSshd({ name: "a" }), startSshd({ name: "b" })]);
  machines = [await a.machineFile("max_jobs: 1"), await b.machineFile("max_jobs: 1")];
});
afterAll(() => Promise.all([a.stop(), b.stop()]));

/** Jobs that note that they ran, then wait for `go` in the gate directory. */
async function gatedBatch(
  count: number,
): Promise<{ work: Workspace; gate: Workspace; ran: () => Promise<string[]> }> {
  const gate = await makeWorkspace();
  const lines = Array.from(
    { length: count },
    (_, index) =>
      `echo ${index + 1} >> ${gate.path("ran.log")}; while [ ! -e ${gate.path("go")} ]; do sleep 0.1; done; echo result > r`,
  );
  const work = await makeWorkspace({ "jobs.sh": `${lines.join("\n")}\n` });
  const ran = async () =>
    (await gate.read("ran.log").catch(() => "")).split("\n").filter((line) => line !== "");
  return { work, gate, ran };
}

async function detach(work: Workspace, files: readonly string[]): Promise<string> {
  const left = await runCommand(["jobs.sh", "--machines", ...files, ...SMALL, "--detach", "--json"], {
    cwd: work.dir,
  });
  expect(left.code, left.stderr).toBe(0);
  return JSON.parse(left.stdout.split("\n")[0] ?? "").batch;
}

async function isCleanOverThere(host: TestHost): Promise<boolean> {
  const batches = path.join(host.homeDir, ".sshoal", "batches");
  return (existsSync(batches) ? await readdir(batches) : []).length === 0 && host.pids().length === 0;
}

test("attach resumes a detached batch, and every job runs once", async () => {
  const { work, gate, ran } = await gatedBatch(4);
  await detach(work, machines);
  await until("two jobs run", async () => (await ran()).length === 2);
  await gate.write("go", "");
  const { code, stdout, stderr } = await runCommand(["attach"], { cwd: work.dir, program: "sshoal" });
  expect(code, stdout + stderr).toBe(0);
  expect(stdout).toMatch(/^resuming: 0 done, \d last seen running/m);
  expect((await ran()).sort()).toEqual(["1", "2", "3", "4"]);
  for (const line of [1, 2, 3, 4]) expect(await work.read(`job_results/jobs.sh.${line}/r`)).toBe("result\n");
  await until("nothing is left", async () => (await isCleanOverThere(a)) && (await isCleanOverThere(b)));
});

test("another computer resumes a batch by its name alone", async () => {
  const { work, gate, ran } = await gatedBatch(4);
  const batch = await detach(work, machines);
  await until("two jobs run", async () => (await ran()).length === 2);
  const elsewhere = await makeWorkspace();
  await gate.write("go", "");
  const { code, stdout, stderr } = await runCommand(["attach", batch, "--machines", ...machines], {
    cwd: elsewhere.dir,
    program: "sshoal",
  });
  expect(code, stdout + stderr).toBe(0);
  for (const line of [1, 2, 3, 4])
    expect(await elsewhere.read(`job_results/jobs.sh.${line}/r`)).toBe("result\n");
  expect((await ran()).sort()).toEqual(["1", "2", "3", "4"]);
});

test("while one client follows a batch, a second one learns which client does", async () => {
  const { work, gate, ran } = await gatedBatch(2);
  const client = spawnCommand(["jobs.sh", "--machines", ...machines, ...SMALL, "--json"], { cwd: work.dir });
  await until("two jobs run", async () => (await ran()).length === 2);
  const same = await runCommand(["attach"], { cwd: work.dir, program: "sshoal" });
  expect(same.code).toBe(2);
  expect(same.stderr).toContain(`another client follows this batch: process ${client.child.pid}`);
  const batch = JSON.parse(client.stdout().split("\n")[0] ?? "").batch;
  const elsewhere = await makeWorkspace();
  const other = await runCommand(["attach", batch, "--machines", ...machines], {
    cwd: elsewhere.dir,
    program: "sshoal",
  });
  expect(other.stderr).toContain(`the batch is followed by`);
  expect(other.stderr).toContain(work.dir);
  expect(other.code).toBe(2);
  await gate.write("go", "");
  expect((await client.ended).code).toBe(0);
  expect(await ran()).toHaveLength(2);
});

test("attaching to a batch that no machine has is an error and leaves no record", async () => {
  const elsewhere = await makeWorkspace();
  const { code, stderr } = await runCommand(["attach", "no-such-batch", "--machines", ...machines], {
    cwd: elsewhere.dir,
    program: "sshoal",
  });
  expect(code).toBe(2);
  expect(stderr).toContain("no batch no-such-batch found");
  expect(existsSync(elsewhere.path("job_results/.sshoal/.jsonl"))).toBe(false);
});

test("stopping a detached job ends its whole process tree and collects its results; the others continue", async () => {
  const gate = await makeWorkspace();
  const work = await makeWorkspace({
    "jobs.sh": [
      `echo partial > r; setsid sleep 600 & sleep 600 & touch ${gate.path("one")}; sleep 600`,
      `touch ${gate.path("two")}; while [ ! -e ${gate.path("go")} ]; do sleep 0.1; done`,
      "",
    ].join("\n"),
  });
  await detach(work, machines);
  await until("both run", () => existsSync(gate.path("one")) && existsSync(gate.path("two")));
  const stopped = await runCommand(["stop", "jobs.sh.1"], { cwd: work.dir, program: "sshoal" });
  expect(stopped.code, stopped.stdout + stopped.stderr).toBe(0);
  expect(await work.read("job_results/jobs.sh.1/r")).toBe("partial\n");
  await gate.write("go", "");
  const { code, stdout } = await runCommand(["attach"], { cwd: work.dir, program: "sshoal" });
  expect(code, stdout).toBe(1);
  expect(stdout).toContain("finished: jobs.sh.2");
  await until("nothing is left", async () => (await isCleanOverThere(a)) && (await isCleanOverThere(b)));
});

test("stopping a followed batch: the client collects everything and prints what was stopped", async () => {
  const { work, ran } = await gatedBatch(4);
  const client = spawnCommand(["jobs.sh", "--machines", ...machines, ...SMALL], { cwd: work.dir });
  await until("two jobs run", async () => (await ran()).length === 2);
  const stopped = await runCommand(["stop", "jobs.sh"], { cwd: work.dir, program: "sshoal" });
  expect(stopped.code, stopped.stdout + stopped.stderr).toBe(0);
  const { code, stdout } = await client.ended;
  expect(code, stdout).toBe(130);
  expect(stdout).toMatch(/^0 succeeded, 0 failed, 4 stopped/m);
  expect(await ran()).toHaveLength(2);
  await until("nothing is left", async () => (await isCleanOverThere(a)) && (await isCleanOverThere(b)));
});

test("retry --failed runs failed jobs again, and keeps their earlier results", async () => {
  const gate = await makeWorkspace();
  const work = await makeWorkspace({
    "jobs.sh": `echo fine\ntest -e ${gate.path("fixed")} && echo good > r\n`,
  });
  const first = await runCommand(["jobs.sh", "--machines", ...machines, ...SMALL], { cwd: work.dir });
  expect(first.code, first.stdout + first.stderr).toBe(1);
  await gate.write("fixed", "");
  const again = await runCommand(["retry", "--failed"], { cwd: work.dir, program: "sshoal" });
  expect(again.code, again.stdout + again.stderr).toBe(0);
  expect(again.stdout).toContain("finished: jobs.sh.2");
  expect(again.stdout).not.toContain("started: jobs.sh.1");
  expect(await work.read("job_results/jobs.sh.2/r")).toBe("good\n");
  expect(existsSync(work.path("job_results/jobs.sh.2.old-1"))).toBe(true);
  const none = await runCommand(["retry", "--failed"], { cwd: work.dir, program: "sshoal" });
  expect(none.code).toBe(2);
  expect(none.stderr).toContain("no job here is failed or lost");
});

test.each([[["--failed"]], [["2"]]])(
  "retry %j after --detach collects a job that failed, and runs it again",
  async (which) => {
    const gate = await makeWorkspace();
    const work = await makeWorkspace({
      "jobs.sh": `echo fine\ntest -e ${gate.path("fixed")} && echo good > r\n`,
    });
    await detach(work, machines);
    const waited = await runCommand(["wait"], { cwd: work.dir, program: "sshoal" });
    expect(waited.code, waited.stderr).toBe(1);
    await gate.write("fixed", "");
    const again = await runCommand(["retry", ...which], { cwd: work.dir, program: "sshoal" });
    expect(again.code, again.stdout + again.stderr).toBe(0);
    expect(await work.read("job_results/jobs.sh.2/r")).toBe("good\n");
    expect(existsSync(work.path("job_results/jobs.sh.1"))).toBe(true);
    expect(existsSync(work.path("job_results/jobs.sh.2.old-1"))).toBe(true);
    await until("nothing is left", async () => (await isCleanOverThere(a)) && (await isCleanOverThere(b)));
  },
);

test("a drained machine finishes its running jobs, and the other one gets the rest", async () => {
  const { work, gate, ran } = await gatedBatch(6);
  const client = spawnCommand(["jobs.sh", "--machines", ...machines, ...SMALL, "--json"], { cwd: work.dir });
  await until("two jobs run", async () => (await ran()).length === 2);
  // As it may be typed after --machines.
  const drained = await runCommand(["drain", "a"], { cwd: work.dir, program: "sshoal" });
  expect(drained.stdout, drained.stderr).toMatch(/^draining: a\.yaml; /);
  expect(drained.code).toBe(0);
  await client.until(({ stdout }) => stdout().includes('"kind":"jobs-taken-back"'));
  await gate.write("go", "");
  const { code, stdout } = await client.ended;
  expect(code, stdout).toBe(0);
  const started = stdout
    .split("\n")
    .filter((line) => line.includes('"job-started"') && line.includes("a.yaml"));
  expect(started).toHaveLength(1);
  expect((await ran()).sort()).toEqual(["1", "2", "3", "4", "5", "6"]);
});

test("stop and drain do not change the spool of a newer sshoal", async () => {
  const { work, gate, ran } = await gatedBatch(2);
  const batch = await detach(work, [machines[0] ?? ""]);
  await until("the first job runs", async () => (await ran()).length === 1);
  const format = path.join(a.homeDir, ".sshoal/batches", `${batch}@${hostname()}`, "format");
  const ours = await readFile(format, "utf8");
  await writeFile(format, "99\n");
  for (const args of [
    ["stop", "jobs.sh.2"],
    ["drain", "a.yaml"],
  ]) {
    const { code, stderr } = await runCommand(args, { cwd: work.dir, program: "sshoal" });
    expect(stderr).toMatch(/^error: a\.yaml: the batch on it was made by a sshoal, which is newer/);
    expect(code).toBe(2);
  }
  await writeFile(format, ours);
  await gate.write("go", "");
  const { code, stdout, stderr } = await runCommand(["attach"], { cwd: work.dir, program: "sshoal" });
  expect(code, stdout + stderr).toBe(0);
  expect(await ran()).toEqual(["1", "2"]);
});

test("for unknown names, similar ones are suggested", async () => {
  const work = await makeWorkspace({ "jobs.sh": "true\n" });
  await runCommand(["jobs.sh", ...SMALL], { cwd: work.dir });
  const near = await runCommand(["stop", "jobs.sh.2"], { cwd: work.dir, program: "sshoal" });
  expect(near.code).toBe(2);
  expect(near.stderr).toContain("jobs.sh.1");
  const nothing = await runCommand(["stop", "jobs.sh"], { cwd: work.dir, program: "sshoal" });
  expect(nothing.code).toBe(2);
  expect(nothing.stderr).toContain("nothing of jobs.sh is running or queued");
  const ended = await runCommand(["stop", "--state", "succeeded"], { cwd: work.dir, program: "sshoal" });
  expect(ended.stderr).toContain("nothing of --state succeeded is running or queued");
  const empty = await makeWorkspace();
  const nowhere = await runCommand(["attach"], { cwd: empty.dir, program: "sshoal" });
  expect(nowhere.code).toBe(2);
  expect(nowhere.stderr).toContain("no batch was ever run");
});
