// `sshoal wait`: blocks until jobs have ended, with and without a client that follows them, and exits truthfully.

import { existsSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { LIGHT_NO_GPU, parseEvents, waitFor } from "../rig/batch.js";
import { type LiveCommand, runCommand, spawnCommand } from "../rig/command.js";
import { rebootHost } from "../rig/reboot-host.js";
import { startRelay } from "../rig/relay.js";
import { startSshd, type TestHost } from "../rig/sshd.js";
import { runOnTerminal } from "../rig/terminal.js";
import { until } from "../rig/until.js";
import { makeWorkspace, type Workspace } from "../rig/workspace.js";

let host: TestHost;
let work: Workspace;
let gate: Workspace;

beforeAll(async () => {
  host = await startSshd({ name: "one" });
});
beforeEach(async () => {
  [work, gate] = await Promise.all([makeWorkspace(), makeWorkspace()]);
});
afterEach(() => Promise.all([work.remove(), gate.remove()]));
afterAll(() => host?.stop());

/** A job that notes that it began, then waits for a file of its own. */
const gated = (name: string) => `true > ${gate.path(`${name}-began`)}; ${waitFor(gate.path(name))}`;
const began = (name: string) => until(`${name} has begun`, () => existsSync(gate.path(`${name}-began`)));
const open = (name: string) => gate.write(name, "");

function sshoal(...args: string[]) {
  return runCommand(args, { program: "sshoal", cwd: work.dir });
}

function startWait(...args: string[]): LiveCommand {
  return spawnCommand(["wait", ...args], { program: "sshoal", cwd: work.dir });
}

async function argsFor(script: string, extra = "max_jobs: 1"): Promise<string[]> {
  return [script, "--machines", await host.machineFile(extra), ...LIGHT_NO_GPU];
}

async function detach(...lines: string[]): Promise<string[]> {
  await work.write("jobs.sh", lines.map((line) => `${line}\n`).join(""));
  const args = await argsFor("jobs.sh");
  const { code, stderr } = await runCommand([...args, "--detach"], { cwd: work.dir });
  expect(code, stderr).toBe(0);
  return args;
}

function follow(args: readonly string[]): LiveCommand {
  return spawnCommand(args, { cwd: work.dir });
}

/** A waiting command follows the logs of the machine, or has asked its socket. */
const isWatched = () => until("its logs are followed", () => host.pids().some(isTail));
const isTail = (pid: number) => {
  try {
    return readFileSync(`/proc/${pid}/comm`, "utf8") === "tail\n";
  } catch {
    return false;
  }
};

const record = () => work.read("job_results/.sshoal/jobs.sh.jsonl");

test("after --detach it learns from the machine, changes nothing, and exits with how the jobs ended", async () => {
  const args = await detach(gated("a"), "echo KeyError >&2; exit 3");
  await began("a");
  const before = await record();
  const [all, first] = [startWait(), startWait("1")];
  await isWatched();
  await open("a");
  expect(await first.ended).toMatchObject({ code: 0, stdout: "" });
  const { code, stdout, stderr } = await all.ended;
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr).toMatch(
    /^jobs\.sh: 1 succeeded, 1 failed of 2 in \d+s\nSTATE .*\nfailed +2 .* exit 3: KeyError\n2 results are not collected yet: sshoal attach jobs\.sh\n$/,
  );
  expect(await record()).toBe(before);
  expect(existsSync(work.path("job_results/jobs.sh.1"))).toBe(false);

  const results = await sshoal("results", "--sort", "acc");
  expect(results.stderr).toContain("2 results are not collected yet: sshoal attach jobs.sh\n");
  expect((await sshoal("results")).stderr).toBe("2 results are not collected yet: sshoal attach jobs.sh\n");

  const again = await sshoal("wait", "--json");
  expect(again.code).toBe(1);
  expect(parseEvents(again.stdout).map(({ name, state, collected }) => [name, state, collected])).toEqual([
    ["jobs.sh.1", "succeeded", false],
    ["jobs.sh.2", "failed", false],
  ]);
  expect((await runCommand(args, { cwd: work.dir })).code).toBe(1);
  expect(await sshoal("wait", "1")).toMatchObject({ code: 0, stdout: "" });
});

test("with a client, a job has ended once its results are here, and the batch with its client", async () => {
  await work.write("jobs.sh", `${gated("a")}\n${gated("b")}\n`);
  const client = follow(await argsFor("jobs.sh", "max_jobs: 2"));
  await Promise.all([began("a"), began("b")]);
  const [first, batch] = [startWait("1"), startWait("jobs.sh")];
  await open("a");
  expect(await first.ended).toMatchObject({ code: 0 });
  expect(existsSync(work.path("job_results/jobs.sh.1"))).toBe(true);
  await open("b");
  const [waited, followed] = await Promise.all([batch.ended, client.ended]);
  expect([waited.code, followed.code]).toEqual([0, 0]);
  expect(waited.stderr).toMatch(/^jobs\.sh: 2 succeeded of 2 in \d+s\n$/);
});

test.each([
  ["is killed", "SIGKILL"],
  ["leaves", "SIGTERM"],
] as const)("when the client %s, it goes on by asking the machine", async (_, signal) => {
  await work.write("jobs.sh", `${gated("a")}\n`);
  const args = await argsFor("jobs.sh");
  const client = follow(args);
  await began("a");
  const waiting = startWait();
  await until("it watches the client", () => holdsSocket(waiting.child.pid));
  client.child.kill(signal);
  await client.ended;
  await isWatched();
  await open("a");
  expect(await waiting.ended).toMatchObject({ code: 0 });
  expect((await runCommand(args, { cwd: work.dir })).code).toBe(0);
});

/** It holds a socket: that of the client. */
function holdsSocket(pid = 0): boolean {
  return readdirSync(`/proc/${pid}/fd`).some((fd) => linkOf(`/proc/${pid}/fd/${fd}`).startsWith("socket:"));
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return "";
  }
}

test("a client that comes meanwhile is followed: its results are waited for", async () => {
  const args = await detach(gated("a"));
  await began("a");
  const waiting = startWait("1");
  await isWatched();
  const client = follow(args);
  await client.until(({ stdout }) => stdout().includes("resuming:"));
  await open("a");
  const [waited, followed] = await Promise.all([waiting.ended, client.ended]);
  expect([waited.code, followed.code]).toEqual([0, 0]);
  expect(existsSync(work.path("job_results/jobs.sh.1"))).toBe(true);
});

test("jobs that no client will start do not block: what to type is printed", async () => {
  await work.write("jobs.sh", `${gated("a")}\ntrue\ntrue\n`);
  const args = await argsFor("jobs.sh");
  const client = follow(args);
  await began("a");
  client.child.kill("SIGINT");
  await client.until(({ stderr, stdout }) => /no new jobs|stopping/.test(stdout() + stderr()));
  await open("a");
  await client.ended;
  const { code, stderr } = await sshoal("wait");
  expect(code).toBe(1);
  expect(stderr).toMatch(/^jobs\.sh: 1 succeeded, 2 waiting of 3 in /);
  expect(stderr).toMatch(
    /\nerror: 2 jobs of jobs\.sh do not go on: no client follows the batch\ntry: sshoal attach jobs\.sh\n$/,
  );
  expect((await sshoal("wait", "1")).code).toBe(0);
  expect((await sshoal("wait", "3")).code).toBe(1);
});

test("jobs that were stopped have ended, and not well", async () => {
  await detach(gated("a"), "true");
  await began("a");
  expect((await sshoal("stop", "jobs.sh")).code).toBe(0);
  const { code, stderr } = await sshoal("wait");
  expect(code).toBe(1);
  expect(stderr).toMatch(/^jobs\.sh: 0 succeeded, 2 stopped of 2 in /);
});

test("a lost link is connected again; a machine that was rebooted has nothing that would end the job", async () => {
  const relay = await startRelay(host.port);
  await work.write("jobs.sh", `${gated("a")}\n`);
  const machine = await host.machineFile("max_jobs: 1", relay);
  const args = ["jobs.sh", "--machines", machine, ...LIGHT_NO_GPU];
  expect((await runCommand([...args, "--detach"], { cwd: work.dir })).code).toBe(0);
  await began("a");
  const waiting = startWait();
  await isWatched();
  relay.refuse();
  relay.cut();
  await waiting.until(({ stderr }) => /one\.yaml cannot be asked: .*; trying again\n/.test(stderr()));
  relay.accept();
  await waiting.until(({ stderr }) => stderr().includes("one.yaml can be reached again\n"));
  rebootHost(host);
  const { code, stderr } = await waiting.ended;
  expect(code).toBe(1);
  expect(stderr).toMatch(/error: a job of jobs\.sh does not go on: nothing runs on one\.yaml any more/);
  await open("a");
  await runCommand(args, { cwd: work.dir });
  await relay.stop();
});

test("a machine that does not let us in cannot be waited for", async () => {
  const args = await detach(gated("a"));
  await began("a");
  const keys = join(host.dir, "authorized_keys");
  const letIn = readFileSync(keys);
  writeFileSync(keys, "");
  const { code, stderr } = await sshoal("wait");
  writeFileSync(keys, letIn);
  expect(code, stderr).toBe(3);
  expect(stderr).toMatch(/^error: one\.yaml cannot be asked: .*\ntry: /);
  await open("a");
  await runCommand(args, { cwd: work.dir });
});

test("--timeout and signals end the waiting, not the jobs; a terminal shows how far it is", async () => {
  const args = await detach(gated("a"));
  await began("a");
  const timedOut = await sshoal("wait", "--timeout", "1s");
  expect(timedOut).toMatchObject({ code: 124, stdout: "" });
  expect(timedOut.stderr).toBe("error: the jobs had not ended after 1s, and go on\ntry: sshoal status\n");
  const waiting = startWait();
  await isWatched();
  waiting.child.kill("SIGINT");
  expect((await waiting.ended).code).toBe(130);
  const home = await makeWorkspace();
  const seen = runOnTerminal(["wait", "--host-keys", "accept-new"], {
    program: "sshoal",
    cwd: work.dir,
    home: home.dir,
  });
  await seen.shows(/waiting \d+s for jobs\.sh: 0 of 1 ended, 1 running/);
  await open("a");
  expect(await seen.ended, seen.shown()).toBe(0);
  expect(seen.lines().join("\n")).not.toContain("waiting");
  await home.remove();
  await runCommand(args, { cwd: work.dir });
});

test("words that name nothing, and directories without a batch, are mistakes", async () => {
  expect((await sshoal("wait")).stderr).toMatch(/^error: no batch was ever run in /);
  await work.write("jobs.sh", "true\n");
  await runCommand(["jobs.sh", ...LIGHT_NO_GPU], { cwd: work.dir });
  const unknown = await sshoal("wait", "7");
  expect(unknown).toMatchObject({ code: 2, stdout: "" });
  expect(unknown.stderr).toMatch(/^error: there is no job 7 here\ntry: /);
  expect((await sshoal("wait", "--timeout", "5")).code).toBe(2);
  expect((await sshoal("wait", "--state", "failed")).code).toBe(2);
});
