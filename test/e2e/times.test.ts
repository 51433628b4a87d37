// How long jobs and batches take, told to a client that comes back: by the uptime of machines, and over all clients. Tests
// move what was written into the past, and never wait.

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { LIGHT_NO_GPU, listBelow, parseEvents, waitFor } from "../rig/batch.js";
import { runCommand } from "../rig/command.js";
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

/** As if all that is recorded had happened so long ago. */
async function moveRecord(seconds: number): Promise<void> {
  const move = (_: string, name: string, time: string) => `"${name}":${Number(time) - seconds * 1000}`;
  await work.write(RECORD, (await work.read(RECORD)).replace(/"(at|startedAt)":(\d+)/g, move));
}

/** What the slot wrote about a job: its start so long ago, and its end after `lasted` seconds. */
function moveJob(job: number, seconds: number, lasted: number): void {
  const root = join(host.homeDir, ".sshoal/batches");
  for (const path of listBelow(root).filter((name) => /\/slots\/\d+\/events$/.test(name))) {
    const log = readFileSync(join(root, path), "utf8");
    const key = `\\d{13}-${job}-1`;
    const moved = log
      .replace(
        new RegExp(`^(started ${key} 0) (\\d+)`, "m"),
        (_, start, up) => `${start} ${up - seconds * 100}`,
      )
      .replace(new RegExp(`^(ended ${key} 0 0) \\d+`, "m"), `$1 ${lasted * 1000}`);
    writeFileSync(join(root, path), moved);
  }
}

test("after --detach and attach, elapsed times and the time left are true", async () => {
  await work.write("jobs.sh", `true\ntrue > ${seen.path("began")}; ${waitFor(seen.path("go"))}\ntrue\n`);
  await run("--detach");
  await until("the second job runs", () => existsSync(seen.path("began")));
  await moveRecord(160);
  moveJob(1, 160, 60);
  moveJob(2, 100, 0);

  const { stdout } = await sshoal("status");
  expect(stdout).toMatch(/1 running, 1 waiting\n {2}2m\d\ds so far, ~1m left; /);
  expect(stdout).toMatch(/ {4}jobs\.sh\.2 {2}one\.yaml slot 0 {2}1m\d\ds\n/);
  const running = parseEvents((await sshoal("status", "--json")).stdout)[1];
  expect(Math.floor(running?.elapsedMs / 60_000)).toBe(1);

  const home = await makeWorkspace();
  const attached = runOnTerminal(["attach"], { program: "sshoal", cwd: work.dir, home: home.dir });
  await attached.shows(/\/3.*2m\d\ds.*~1m left[\s\S]*\n[^\n]*1m\d\ds/);
  await seen.write("go", "");
  expect(await attached.ended, attached.shown()).toBe(0);
  await home.remove();
});

test("of a batch that had ended before attach, all tell the same times, up to the end of its last job", async () => {
  await work.write("jobs.sh", "true\ntrue\n");
  await run("--detach");
  await until("nothing runs there any more", () => host.pids().length === 0);
  await moveRecord(200);
  moveJob(1, 200, 30);
  moveJob(2, 170, 30);

  expect((await sshoal("status")).stdout).toMatch(/: 2 succeeded, 2 of them to collect; took 1m\d\ds\n/);
  const attached = await sshoal("attach");
  expect(attached.stdout, attached.stderr).toMatch(/^2 succeeded.* in 1m\d\ds$/m);
  const { kind, elapsedMs } = parseEvents((await run("--json")).stdout).at(-1) ?? {};
  expect([kind, Math.floor(elapsedMs / 60_000)]).toEqual(["run-ended", 1]);

  const rows = parseEvents((await sshoal("results", "--json")).stdout);
  expect(rows.map(({ durationMs }) => durationMs)).toEqual([30_000, 30_000]);
  expect(Math.round((rows[1]?.startedAt - rows[0]?.startedAt) / 1000)).toBe(30);
  expect((await sshoal("status")).stdout).toMatch(/: 2 succeeded; took 1m\d\ds\n/);
  const statuses = parseEvents((await sshoal("status", "--json")).stdout);
  expect(statuses.map((status) => status.elapsedMs)).toEqual([30_000, 30_000]);
});

test("a computer that has no record of the batch counts from its first job to its last", async () => {
  await work.write("jobs.sh", "true\ntrue\n");
  await run("--detach");
  await until("nothing runs there any more", () => host.pids().length === 0);
  moveJob(1, 200, 30);
  moveJob(2, 170, 30);
  const [batch = ""] = (await sshoal("status")).stdout.split(":");
  const args = ["attach", batch, "--machines", await host.machineFile("max_jobs: 1")];
  const attached = await runCommand(args, { program: "sshoal", cwd: seen.dir });
  expect(attached.stdout, attached.stderr).toMatch(/^.*2 succeeded.* in 1m\d\ds$/m);
});
