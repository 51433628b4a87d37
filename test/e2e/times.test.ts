// How long jobs and batches take, for a client that resumes: by the uptime of machines, and over all clients. Tests
// move written times into the past, and never wait.

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { type JsonEvent, LIGHT_NO_GPU, listBelow, parseEvents, waitFor } from "../rig/batch.js";
import { runCommand, spawnCommand } from "../rig/command.js";
import { sweep } from "../rig/ledger.js";
import { startSshd, type TestHost } from "../rig/sshd.js";
import { runOnTerminal } from "../rig/terminal.js";
import { until } from "../rig/until.js";
import { makeWorkspace, type Workspace } from "../rig/workspace.js";

const RECORD = "job_results/.sshoal/jobs.sh.jsonl";

let host: TestHost;
let work: Workspace;
let seen: Workspace;

beforeAll(async () => {
  host = await startSshd({ name: "one" });
});
beforeEach(async () => {
  [work, seen] = await Promise.all([makeWorkspace(), makeWorkspace()]);
});
afterEach(async () => {
  await sweep(host);
  await Promise.all([work.remove(), seen.remove()]);
});
afterAll(() => host?.stop());

const sshoal = (...args: string[]) => runCommand(args, { program: "sshoal", cwd: work.dir });

async function run(...options: string[]) {
  const args = ["jobs.sh", "--machines", await host.machineFile("max_jobs: 1"), ...LIGHT_NO_GPU, ...options];
  const result = await runCommand(args, { cwd: work.dir });
  expect(result.code, result.stdout + result.stderr).toBe(0);
  return result;
}

/** Two jobs that end after the client has left. */
async function runUnseen(): Promise<void> {
  await work.write("jobs.sh", `${waitFor(seen.path("go"))}\ntrue\n`);
  await run("--detach");
  await seen.write("go", "");
  await until("nothing runs there any more", () => host.pids().length === 0);
}

/** Seconds. */
interface Moved {
  readonly ago: number;
  readonly lasted: number;
}

/** As if everything had happened this many seconds ago, and each job had begun then and lasted this long. */
async function move(ago: number, jobs: Readonly<Record<number, Moved>>): Promise<void> {
  const lines = (await work.read(RECORD)).split("\n").slice(0, -1);
  const events = lines.map((line) => moveEvent(JSON.parse(line), ago, jobs));
  await work.write(RECORD, events.map((event) => `${JSON.stringify(event)}\n`).join(""));
  const root = join(host.homeDir, ".sshoal/batches");
  for (const path of listBelow(root).filter((name) => /\/slots\/\d+\/events$/.test(name))) {
    const log = readFileSync(join(root, path), "utf8");
    const moved = Object.entries(jobs).reduce((text, [job, facts]) => moveInLog(text, job, facts), log);
    writeFileSync(join(root, path), moved);
  }
}

/** The client may have seen jobs begin and end before it left. */
function moveEvent(event: JsonEvent, ago: number, jobs: Readonly<Record<number, Moved>>): JsonEvent {
  const facts = jobs[event.job] ?? { ago, lasted: 0 };
  const at = event.at - 1000 * (event.kind === "job-ended" ? facts.ago - facts.lasted : facts.ago);
  const started = "startedAt" in event && { startedAt: event.startedAt - 1000 * facts.ago };
  return { ...event, at, ...started, ...("durationMs" in event && { durationMs: 1000 * facts.lasted }) };
}

function moveInLog(log: string, job: string, { ago, lasted }: Moved): string {
  const key = `\\d{13}-${job}-1`;
  return log
    .replace(new RegExp(`^(started ${key} 0) (\\d+)`, "m"), (_, start, up) => `${start} ${up - ago * 100}`)
    .replace(new RegExp(`^(ended ${key} 0 0) \\d+`, "m"), `$1 ${lasted * 1000}`);
}

test("after --detach and attach, elapsed times and the time left are correct", async () => {
  await work.write("jobs.sh", `true\ntrue > ${seen.path("began")}; ${waitFor(seen.path("go"))}\ntrue\n`);
  await run("--detach");
  await until("the second job runs", () => existsSync(seen.path("began")));
  await move(160, { 1: { ago: 160, lasted: 60 }, 2: { ago: 100, lasted: 0 } });

  const { stdout } = await sshoal("status");
  expect(stdout).toMatch(/^jobs\.sh {2}running {2}2m\d\ds, ~1m left .*\n.*1 running, 1 waiting, 3 in all\n/);
  expect(stdout).toMatch(/^running {4}2 {2}one\.yaml {2}1m\d\ds$/m);
  const running = parseEvents((await sshoal("status", "--json")).stdout)[1];
  expect(Math.floor(running?.elapsedMs / 60_000)).toBe(1);

  const home = await makeWorkspace();
  const attached = runOnTerminal(["attach"], { program: "sshoal", cwd: work.dir, home: home.dir });
  await attached.shows(/\/3.*2m\d\ds.*~1m left[\s\S]*\n[^\n]*1m\d\ds/);
  await seen.write("go", "");
  expect(await attached.ended, attached.shown()).toBe(0);
  await home.remove();
});

test("jobs that an earlier client collected count by their outcome, not as skipped", async () => {
  await work.write("jobs.sh", `true\nexit 3\n${waitFor(seen.path("go"))}\n`);
  const machine = await host.machineFile("max_jobs: 1");
  const client = spawnCommand(["jobs.sh", "--machines", machine, ...LIGHT_NO_GPU], { cwd: work.dir });
  await client.until(({ stdout }) => stdout().includes("failed: jobs.sh.2"));
  client.child.kill("SIGTERM");
  await client.ended;
  await seen.write("go", "");
  const attached = await sshoal("attach");
  expect(attached.stdout, attached.stderr).toMatch(/^2 succeeded, 1 failed in \d+s$/m);
  expect(attached.code).toBe(1);
});

test("for a batch that had ended before attach, all reports show the same times, up to the end of its last job", async () => {
  await runUnseen();
  await move(200, { 1: { ago: 200, lasted: 30 }, 2: { ago: 170, lasted: 30 } });

  expect((await sshoal("status")).stdout).toMatch(
    /^jobs\.sh {2}succeeded {2}took 1m\d\ds .*\n2 succeeded, 2 of them to collect, /,
  );
  const attached = await sshoal("attach");
  expect(attached.stdout, attached.stderr).toMatch(/^2 succeeded.* in 1m\d\ds$/m);
  const { kind, elapsedMs } = parseEvents((await run("--json")).stdout).at(-1) ?? {};
  expect([kind, Math.floor(elapsedMs / 60_000)]).toEqual(["run-ended", 1]);

  const rows = parseEvents((await sshoal("results", "--json")).stdout);
  expect(rows.map(({ durationMs }) => durationMs)).toEqual([30_000, 30_000]);
  expect(Math.round((rows[1]?.startedAt - rows[0]?.startedAt) / 1000)).toBe(30);
  expect((await sshoal("status")).stdout).toMatch(
    /^jobs\.sh {2}succeeded {2}took 1m\d\ds .*\n2 succeeded, 2 in all\n/,
  );
  const statuses = parseEvents((await sshoal("status", "--json")).stdout);
  expect(statuses.map((status) => status.elapsedMs)).toEqual([30_000, 30_000]);
});

test("a computer without a record of the batch counts from its first job to its last", async () => {
  await runUnseen();
  await move(200, { 1: { ago: 200, lasted: 30 }, 2: { ago: 170, lasted: 30 } });
  const [, batch = ""] = /\((\S+)\)$/m.exec((await sshoal("status")).stdout) ?? [];
  const args = ["attach", batch, "--machines", await host.machineFile("max_jobs: 1")];
  const attached = await runCommand(args, { program: "sshoal", cwd: seen.dir });
  expect(attached.stdout, attached.stderr).toMatch(/^.*2 succeeded.* in 1m\d\ds$/m);
});
