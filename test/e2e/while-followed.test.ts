// While a client follows a batch, other commands of the same computer act on it through that client.

import { existsSync, readdirSync, statSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { LIGHT_NO_GPU, parseEvents, waitFor } from "../rig/batch.js";
import { type LiveCommand, runCommand, spawnCommand } from "../rig/command.js";
import { openLedger } from "../rig/ledger.js";
import { startSshd, type TestHost } from "../rig/sshd.js";
import { until } from "../rig/until.js";
import { makeWorkspace, type Workspace } from "../rig/workspace.js";

let a: TestHost;
let b: TestHost;
let machines: string[];

beforeAll(async () => {
  [a, b] = await Promise.all([startSshd({ name: "a" }), startSshd({ name: "b" })]);
  machines = [await a.machineFile("max_jobs: 1"), await b.machineFile("max_jobs: 1")];
});
afterAll(() => Promise.all([a.stop(), b.stop()]));

/** A job that notes that it ran, then waits for its own file. */
function gated(gate: Workspace, name: string): string {
  return `echo ${name} >> ${gate.path("ran")}; ${waitFor(gate.path(name))}; echo ${name} > r`;
}

async function ran(gate: Workspace): Promise<string[]> {
  return (await gate.read("ran").catch(() => "")).split("\n").filter((line) => line !== "");
}

async function gatedBatch(names: readonly string[]): Promise<{ work: Workspace; gate: Workspace }> {
  const gate = await makeWorkspace();
  const work = await makeWorkspace({ "jobs.sh": names.map((name) => `${gated(gate, name)}\n`).join("") });
  return { work, gate };
}

function follow(work: Workspace, files: readonly string[], ...more: string[]): LiveCommand {
  return spawnCommand(["jobs.sh", "--machines", ...files, ...LIGHT_NO_GPU, "--json", ...more], {
    cwd: work.dir,
  });
}

function sshoal(work: Workspace, ...args: string[]) {
  return runCommand(args, { cwd: work.dir, program: "sshoal" });
}

const lockOf = (work: Workspace) => work.path("job_results/.sshoal/jobs.sh.lock");

test("attach --watch shows past and new events; Ctrl-C ends only the watching, and the socket is removed with the client", async () => {
  const { work, gate } = await gatedBatch(["one", "two"]);
  const client = follow(work, machines);
  await until("both run", async () => (await ran(gate)).length === 2);
  const { socket } = JSON.parse(await readFile(lockOf(work), "utf8"));
  expect(statSync(socket).mode & 0o777).toBe(0o600);
  expect(statSync(path.dirname(socket)).mode & 0o777).toBe(0o700);
  expect(Buffer.byteLength(socket)).toBeLessThanOrEqual(107);

  const watcher = spawnCommand(["attach", "--watch"], { cwd: work.dir, program: "sshoal" });
  await watcher.until(({ stdout }) => stdout().split("started: jobs.sh.").length === 3);
  watcher.child.kill("SIGINT");
  const left = await watcher.ended;
  expect(left.code).toBe(130);
  expect(left.stderr).toContain(`process ${client.child.pid} still follows the batch`);

  const another = spawnCommand(["attach", "--watch", "--json"], { cwd: work.dir, program: "sshoal" });
  await another.until(({ stdout }) => stdout().split('"kind":"job-started"').length === 3);
  await gate.write("one", "");
  await another.until(({ stdout }) => stdout().includes('"kind":"job-collected"'));
  await gate.write("two", "");
  const [seen, followed] = await Promise.all([another.ended, client.ended]);
  expect(followed.code, followed.stderr).toBe(0);
  expect(seen.code, seen.stderr).toBe(0);
  const [last] = parseEvents(seen.stdout).slice(-1);
  expect(last).toEqual(parseEvents(followed.stdout).slice(-1)[0]);
  expect(last?.counts.succeeded).toBe(2);
  expect(existsSync(socket)).toBe(false);

  const alone = await sshoal(work, "attach", "--watch");
  expect(alone.code).toBe(2);
  expect(alone.stderr).toContain("no client follows a batch here");
});

test("typing the command again makes the follower read the edited script and use another machine, and then watches", async () => {
  const { work, gate } = await gatedBatch(["one", "two", "gone"]);
  const [first = "", second = ""] = machines;
  const client = follow(work, [first]);
  await gate.write("one", "");
  await until("the second job runs", async () => (await ran(gate)).length === 2);
  await client.until(({ stdout }) => stdout().includes('"kind":"job-collected"'));
  await work.write("jobs.sh", ["new", "one", "two"].map((name) => `${gated(gate, name)}\n`).join(""));
  const again = follow(work, [first, second]);
  await until("the new job runs, on the other machine", async () => (await ran(gate)).length === 3);
  const plain = spawnCommand(["attach", "--watch"], { cwd: work.dir, program: "sshoal" });
  await plain.until(({ stdout }) => stdout().includes("started: jobs.sh.1;"));
  for (const name of ["new", "two"]) await gate.write(name, "");
  const [watched, followed] = await Promise.all([again.ended, client.ended]);
  const { stdout: lines } = await plain.ended;
  expect(lines).toMatch(/^3 succeeded, 0 failed in /m);
  expect(lines.split("started: ")).toHaveLength(4);
  expect(followed.code, followed.stdout + followed.stderr).toBe(0);
  expect(watched.code, watched.stdout + watched.stderr).toBe(0);
  expect(watched.stderr).toContain(`process ${client.child.pid} follows this batch, and has read it again`);
  expect((await ran(gate)).sort()).toEqual(["new", "one", "two"]);
  const results = await Promise.all([1, 2, 3].map((line) => work.read(`job_results/jobs.sh.${line}/r`)));
  expect(results).toEqual(["new\n", "one\n", "two\n"]);
  const used = parseEvents(followed.stdout).filter(({ kind }) => kind === "job-started");
  expect(new Set(used.map(({ machine }) => machine))).toEqual(new Set(["a.yaml", "b.yaml"]));
  const [last] = parseEvents(followed.stdout).slice(-1);
  expect(last?.counts).toMatchObject({ succeeded: 3, skipped: 0, unfinished: 0 });
});

test("a command with a mistake is refused in its own terminal, and the follower continues", async () => {
  const { work, gate } = await gatedBatch(["one"]);
  const client = follow(work, machines.slice(0, 1));
  await until("it runs", async () => (await ran(gate)).length === 1);
  const bad = follow(work, [work.path("no-such.yaml")]);
  const refused = await bad.ended;
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain("no-such.yaml");
  await gate.write("one", "");
  expect((await client.ended).code).toBe(0);
  expect(await ran(gate)).toEqual(["one"]);
});

test("a machine is drained and opened again through the follower", async () => {
  const { work, gate } = await gatedBatch(["one", "two", "three"]);
  const client = follow(work, machines);
  await until("two run", async () => (await ran(gate)).length === 2);
  const drained = await sshoal(work, "drain", "a.yaml");
  expect(drained.code, drained.stderr).toBe(0);
  expect(drained.stdout).toMatch(/^draining: a\.yaml; jobs\.sh/);
  await client.until(({ stdout }) => stdout().includes('"kind":"machine-draining"'));
  const opened = await sshoal(work, "undrain", "a.yaml");
  expect(opened.code, opened.stderr).toBe(0);
  await client.until(({ stdout }) => stdout().includes('"kind":"machine-opened"'));
  const nowhere = await sshoal(work, "undrain", "c.yaml");
  expect(nowhere.code).toBe(2);
  for (const name of ["one", "two", "three"]) await gate.write(name, "");
  const { code, stdout } = await client.ended;
  expect(code, stdout).toBe(0);
  expect((await ran(gate)).sort()).toEqual(["one", "three", "two"]);
});

test("a drained machine that has finished is opened again, and gets jobs", async () => {
  const { work, gate } = await gatedBatch(["one", "two", "three"]);
  const client = follow(work, machines);
  await until("two run", async () => (await ran(gate)).length === 2);
  const events = () => parseEvents(client.stdout());
  const isDone = () => events().some(({ kind, machine }) => kind === "machine-done" && machine === "a.yaml");
  expect((await sshoal(work, "drain", "a.yaml")).code).toBe(0);
  await client.until(({ stdout }) => stdout().includes('"kind":"machine-draining"'));
  const onA = events().find(({ kind, machine }) => kind === "job-started" && machine === "a.yaml");
  await gate.write(onA?.name === "jobs.sh.1" ? "one" : "two", "");
  await client.until(isDone);
  expect(await ran(gate)).toHaveLength(2);
  const opened = await sshoal(work, "undrain", "a.yaml");
  expect(opened.code, opened.stderr).toBe(0);
  await until("the third job runs", async () => (await ran(gate)).length === 3);
  for (const name of ["one", "two", "three"]) await gate.write(name, "");
  const { code, stdout } = await client.ended;
  expect(code, stdout).toBe(0);
  expect((await ran(gate)).sort()).toEqual(["one", "three", "two"]);
  expect(parseEvents(stdout).slice(-1)[0]?.counts).toMatchObject({ succeeded: 3, skipped: 0 });
});

test("a failed job is run again while others run", async () => {
  const gate = await makeWorkspace();
  const work = await makeWorkspace({
    "jobs.sh": `test -e ${gate.path("fixed")} && echo good > r\n${gated(gate, "two")}\n`,
  });
  const client = follow(work, machines);
  await client.until(({ stdout }) => stdout().includes('"kind":"job-collected"'));
  await gate.write("fixed", "");
  const retrying = spawnCommand(["retry", "--failed"], { cwd: work.dir, program: "sshoal" });
  await retrying.until(({ stdout }) => stdout().includes("finished: jobs.sh.1"));
  await gate.write("two", "");
  const [retried, followed] = await Promise.all([retrying.ended, client.ended]);
  expect(followed.code, followed.stdout).toBe(0);
  expect(retried.code, retried.stdout + retried.stderr).toBe(0);
  expect(await work.read("job_results/jobs.sh.1/r")).toBe("good\n");
  expect(existsSync(work.path("job_results/jobs.sh.1.old-1"))).toBe(true);
  expect(await ran(gate)).toEqual(["two"]);
});

test("jobs are stopped through the follower, which runs them again on request", async () => {
  const { work, gate } = await gatedBatch(["one", "two", "three"]);
  const client = follow(work, machines);
  await until("two run", async () => (await ran(gate)).length === 2);
  const stopped = await sshoal(work, "stop", "1", "3");
  expect(stopped.code, stopped.stdout + stopped.stderr).toBe(0);
  await client.until(({ stdout }) => stdout().includes('"kind":"jobs-stopping"'));
  expect((await sshoal(work, "status")).stdout).toContain("2 stopped");
  expect((await ran(gate)).sort()).toEqual(["one", "two"]);
  for (const name of ["one", "three"]) await gate.write(name, "");
  const retrying = spawnCommand(["retry", "1", "3"], { cwd: work.dir, program: "sshoal" });
  const isFinished = (line: number) => retrying.stdout().includes(`finished: jobs.sh.${line};`);
  await retrying.until(() => isFinished(1) && isFinished(3));
  const over = await sshoal(work, "stop", "1");
  expect(over.code).toBe(2);
  await gate.write("two", "");
  const [retried, followed] = await Promise.all([retrying.ended, client.ended]);
  expect(followed.code, followed.stdout).toBe(0);
  expect(retried.code, retried.stdout + retried.stderr).toBe(0);
  expect((await ran(gate)).sort()).toEqual(["one", "one", "three", "two"]);
});

test("a failed job is run again by a client that attached to the last running job", async () => {
  const gate = await makeWorkspace();
  const work = await makeWorkspace({
    "jobs.sh": `test -e ${gate.path("fixed")} && echo good > r\n${gated(gate, "two")}\n`,
  });
  expect((await follow(work, machines, "--detach").ended).code).toBe(0);
  await until("it runs", async () => (await ran(gate)).length === 1);
  const client = spawnCommand(["attach", "--json"], { cwd: work.dir, program: "sshoal" });
  await client.until(({ stdout }) => stdout().includes('"kind":"machine-ready"'));
  // The first client or this one collects it.
  await until("the failed one is here", () => existsSync(work.path("job_results/jobs.sh.1")));
  await until("its record is, too", async () => (await sshoal(work, "status")).stdout.includes("1 failed"));
  await gate.write("fixed", "");
  const retrying = spawnCommand(["retry", "jobs.sh.1"], { cwd: work.dir, program: "sshoal" });
  await retrying.until(({ stdout }) => stdout().includes("finished: jobs.sh.1"));
  await gate.write("two", "");
  const [retried, followed] = await Promise.all([retrying.ended, client.ended]);
  expect(followed.code, followed.stdout).toBe(0);
  expect(retried.code, retried.stdout + retried.stderr).toBe(0);
  expect(await ran(gate)).toEqual(["two"]);
});

test("a client that is asked while it drains refuses, and the asking command reports it", async () => {
  const { work, gate } = await gatedBatch(["one", "two"]);
  const client = follow(work, machines.slice(0, 1));
  await until("one runs", async () => (await ran(gate)).length === 1);
  client.child.kill("SIGINT");
  await client.until(({ stdout }) => stdout().includes('"kind":"interrupted"'));
  const again = await follow(work, machines).ended;
  expect(again.code).toBe(2);
  expect(again.stderr).toContain("error: the batch starts no more jobs\ntry: wait until it ends");
  await gate.write("one", "");
  expect((await client.ended).code).toBe(130);
  expect(await ran(gate)).toEqual(["one"]);
});

test("a killed follower: the watcher names it and what to type", async () => {
  const { work, gate } = await gatedBatch(["one"]);
  const client = follow(work, machines.slice(0, 1));
  await until("it runs", async () => (await ran(gate)).length === 1);
  const { socket, api } = JSON.parse(await readFile(lockOf(work), "utf8"));
  const watcher = spawnCommand(["attach", "--watch"], { cwd: work.dir, program: "sshoal" });
  await watcher.until(({ stdout }) => stdout().includes("started: jobs.sh.1"));
  client.child.kill("SIGKILL");
  const left = await watcher.ended;
  expect(left.code).toBe(2);
  expect(left.stderr).toContain(`process ${client.child.pid}, which followed the batch, is gone`);
  expect(left.stderr).toContain("try: see its state with sshoal status");
  expect(existsSync(socket)).toBe(true);
  await gate.write("one", "");
  const { code, stderr } = await sshoal(work, "attach");
  expect(code, stderr).toBe(0);
  expect(await ran(gate)).toEqual(["one"]);
  for (const each of [socket, api])
    expect(readdirSync(path.dirname(each))).not.toContain(path.basename(each));
});

test("a follower of another version, or on another computer, is named, with exit code 2", async () => {
  const { work, gate } = await gatedBatch(["one"]);
  const client = follow(work, machines.slice(0, 1));
  await until("it runs", async () => (await ran(gate)).length === 1);
  const lock = await readFile(lockOf(work), "utf8");
  const { socket, ...older } = JSON.parse(lock);
  for (const holder of [older, { ...older, host: "elsewhere", socket }]) {
    await writeFile(lockOf(work), JSON.stringify(holder));
    const same = await runCommand(["jobs.sh", "--machines", ...machines, ...LIGHT_NO_GPU], { cwd: work.dir });
    for (const { code, stderr } of [same, await sshoal(work, "attach", "--watch")]) {
      expect(code).toBe(2);
      expect(stderr).toContain(`another client follows this batch: process ${client.child.pid}`);
    }
  }
  await writeFile(lockOf(work), lock);
  await gate.write("one", "");
  expect((await client.ended).code).toBe(0);
});

test("without a follower, undrain lets the machine continue by itself", async () => {
  const { work, gate } = await gatedBatch(["one", "two"]);
  const left = await follow(work, machines.slice(0, 1), "--detach").ended;
  expect(left.code, left.stdout + left.stderr).toBe(0);
  await until("the first runs", async () => (await ran(gate)).length === 1);
  expect((await sshoal(work, "drain", "a.yaml")).code).toBe(0);
  await gate.write("one", "");
  await until("the first is over", async () => (await sshoal(work, "status")).stdout.includes("1 succeeded"));
  expect(await ran(gate)).toEqual(["one"]);
  const opened = await sshoal(work, "undrain", "a.yaml");
  expect(opened.code, opened.stderr).toBe(0);
  expect(opened.stdout).toMatch(/^open again: a\.yaml; jobs\.sh/);
  await until("the second runs", async () => (await ran(gate)).length === 2);
  await gate.write("two", "");
  const { code, stderr } = await sshoal(work, "attach");
  expect(code, stderr).toBe(0);
  expect(await ran(gate)).toEqual(["one", "two"]);
});

test("a follower that is asked repeatedly, at any moment, runs each job once", async () => {
  const ledger = await openLedger();
  await ledger.write(Array.from({ length: 16 }, () => ledger.job("sleep 0.3")));
  const client = follow(ledger.work, machines);
  await client.until(({ stdout }) => stdout().includes('"kind":"run-started"'));
  for (let turn = 0; turn < 4; turn++) {
    const again = await follow(ledger.work, machines, "--detach").ended;
    expect(again.code, again.stderr).toBe(0);
  }
  const { code, stderr } = await client.ended;
  expect(code, stderr).toBe(0);
  expect(await ledger.audit([a, b])).toEqual([]);
  await ledger.remove();
});
