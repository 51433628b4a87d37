// The client is killed or asked to leave at any moment: jobs continue, and the same command resumes the batch.

import { existsSync } from "node:fs";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { LIGHT_NO_GPU, waitFor } from "../rig/batch.js";
import { runCommand, spawnCommand } from "../rig/command.js";
import { type Ledger, openLedger, sweep } from "../rig/ledger.js";
import { startSshd, type TestHost } from "../rig/sshd.js";
import { until } from "../rig/until.js";
import { killRound } from "../soak/kill-round.js";
import { seededRandom } from "../soak/seeded.js";

let one: TestHost;
let two: TestHost;
let ledger: Ledger;

beforeAll(async () => {
  [one, two] = await Promise.all([startSshd({ name: "one" }), startSshd({ name: "two" })]);
});
beforeEach(async () => {
  ledger = await openLedger();
});
afterEach(async () => {
  await sweep(one, two);
  await ledger.remove();
});
afterAll(() => Promise.all([one?.stop(), two?.stop()]));

async function batchArgs(...more: string[]): Promise<string[]> {
  const machines = [await one.machineFile("max_jobs: 2"), await two.machineFile("max_jobs: 2")];
  return ["jobs.sh", "--machines", ...machines, ...LIGHT_NO_GPU, ...more];
}

/** On each machine two jobs wait for a file, and more wait for their turn. */
async function waitingBatch(): Promise<void> {
  await ledger.write(Array.from({ length: 7 }, () => ledger.job(waitFor(ledger.seen.path("go")))));
}

function hasRuns(count: number): Promise<boolean> {
  return until(`${count} jobs run`, async () => (await ledger.runs()).size === count);
}

describe("kill -9", () => {
  const seed = Math.floor(Math.random() * 1e6);
  const random = seededRandom(seed);
  // An undisturbed run takes about 1500 ms; test/soak/run.mjs does this a hundred times.
  for (const round of [1, 2, 3]) {
    test(`at a random instant, round ${round}`, async () => {
      const killsAtMs = [random(), random()].slice(0, round % 2 === 0 ? 2 : 1).map((share) => share * 1800);
      const { wrong, killedAfter } = await killRound({ hosts: [one, two], killsAtMs });
      const facts = `seed ${seed}, killed at ${killsAtMs.join(", ")} ms, after ${killedAfter.join(", ")}`;
      expect(wrong, facts).toEqual([]);
    });
  }

  // After each of these events the record is cut off, as if the client had done nothing more.
  const moments = [
    "jobs-assigned",
    "staged",
    "jobs-handed-over",
    "job-started",
    "job-ended",
    "jobs-arrived",
    "job-collected",
    "machine-done",
  ];
  for (const kind of moments) {
    test(`right after ${kind}`, async () => {
      await ledger.write(Array.from({ length: 6 }, () => ledger.job("sleep 0.1")));
      await ledger.work.write("input.txt", `${kind}\n`);
      const args = await batchArgs("--json");
      const client = spawnCommand(args, { cwd: ledger.work.dir });
      await client.until(({ stdout }) => stdout().includes(`"kind":"${kind}"`));
      client.child.kill("SIGKILL");
      await client.ended;
      const { code, stdout, stderr } = await runCommand(args, { cwd: ledger.work.dir });
      expect(await ledger.audit([one, two]), stdout + stderr).toEqual([]);
      expect(code, stdout + stderr).toBe(0);
    });
  }
});

describe("leaving", () => {
  for (const signal of ["SIGHUP", "SIGTERM"] as const) {
    test(`${signal}: jobs continue, and the same command resumes the batch`, async () => {
      await waitingBatch();
      const args = await batchArgs();
      const client = spawnCommand(args, { cwd: ledger.work.dir });
      await hasRuns(4);
      await client.until(({ stdout }) => stdout().match(/^started: /gm)?.length === 4);
      client.child.kill(signal);
      expect((await client.ended).code).toBe(130);
      await ledger.seen.write("go", "");
      // There is no client to hand anything over, and still all of them run.
      await hasRuns(7);
      const { code, stdout, stderr } = await runCommand(args, { cwd: ledger.work.dir });
      expect(stdout, stderr).toMatch(
        /^resuming: 0 done, 4 last seen running on one\.yaml, two\.yaml, 3 waiting$/m,
      );
      expect(await ledger.audit([one, two]), stdout + stderr).toEqual([]);
      expect(code).toBe(0);
    });
  }

  test("--detach returns once everything is handed over, and the same command resumes the batch", async () => {
    await waitingBatch();
    const detached = await runCommand(await batchArgs("--detach"), { cwd: ledger.work.dir });
    expect(detached.code, detached.stderr).toBe(0);
    expect(existsSync(ledger.work.path("job_results/jobs.sh.1"))).toBe(false);
    // This can be repeated.
    const again = await runCommand(await batchArgs("--detach"), { cwd: ledger.work.dir });
    expect(again.code, again.stderr).toBe(0);
    await ledger.seen.write("go", "");
    await hasRuns(7);
    const { code, stdout, stderr } = await runCommand(await batchArgs(), { cwd: ledger.work.dir });
    expect(stdout, stderr).toMatch(/^resuming: /m);
    expect(await ledger.audit([one, two]), stdout + stderr).toEqual([]);
    expect(code).toBe(0);
  });

  test("a second client learns which client follows the batch, and disturbs nothing", async () => {
    await waitingBatch();
    const args = await batchArgs();
    const first = spawnCommand(args, { cwd: ledger.work.dir });
    await hasRuns(4);
    const second = await runCommand(["attach"], { cwd: ledger.work.dir, program: "sshoal" });
    const pid = first.child.pid;
    expect(second.stderr).toBe(
      `error: another client follows this batch: process ${pid}\ntry: watch it: sshoal attach --watch, or end it: kill ${pid} (jobs continue)\n`,
    );
    expect(second.code).toBe(2);
    await ledger.seen.write("go", "");
    expect((await first.ended).code).toBe(0);
    expect(await ledger.audit([one, two])).toEqual([]);
  });

  test("of many clients that start at once after one was killed, one follows the batch, and the others watch or are refused", async () => {
    await waitingBatch();
    const args = await batchArgs("--json");
    const killed = spawnCommand(args, { cwd: ledger.work.dir });
    await hasRuns(4);
    killed.child.kill("SIGKILL");
    await killed.ended;
    const clients = Array.from({ length: 5 }, () => spawnCommand(args, { cwd: ledger.work.dir }));
    const refused = clients.map(({ ended }) => ended.then(({ code }) => code === 2));
    await until("all but one watch or are refused", async () => {
      const watches = clients.map(({ stderr }) => stderr().includes("has read it again"));
      const known = await Promise.all(refused.map((each, at) => Promise.race([each, watches[at]])));
      return known.filter(Boolean).length === 4;
    });
    await ledger.seen.write("go", "");
    const codes = (await Promise.all(clients.map(({ ended }) => ended))).map(({ code }) => code);
    expect(codes).toContain(0);
    expect(codes.every((code) => code === 0 || code === 2)).toBe(true);
    expect(await ledger.audit([one, two])).toEqual([]);
  });
});

describe("two batches at once on the same machines", () => {
  /** The first batch has two slots of four on each machine, and its jobs wait until the second one's have run beside them. */
  async function runBeside(second: Ledger, script: string): Promise<void> {
    await waitingBatch();
    const first = spawnCommand(await batchArgs(), { cwd: ledger.work.dir });
    await hasRuns(4);
    const machines = [await one.machineFile("max_jobs: 4"), await two.machineFile("max_jobs: 4")];
    const args = [script, "--machines", ...machines, ...LIGHT_NO_GPU];
    const beside = await runCommand(args, { cwd: second.work.dir });
    expect(beside.code, beside.stderr).toBe(0);
    await ledger.seen.write("go", "");
    const { code, stderr } = await first.ended;
    expect(code, stderr).toBe(0);
  }

  test("of two directories: neither affects the other", async () => {
    const other = await openLedger();
    await other.write(Array.from({ length: 8 }, () => other.job("[ ! -e of-first ] && [ -e of-second ]")));
    await ledger.work.write("of-first", "");
    await other.work.write("of-second", "");
    await runBeside(other, "jobs.sh");
    expect(await ledger.audit([one, two])).toEqual([]);
    expect(await other.audit([one, two])).toEqual([]);
    await other.remove();
  });

  test("of one directory: each has its own record and its own incoming archives", async () => {
    const lines = Array.from({ length: 8 }, (_, index) => `echo ${index + 1} > made.txt\n`);
    await ledger.work.write("more.sh", lines.join(""));
    await runBeside(ledger, "more.sh");
    for (let line = 1; line <= 8; line++)
      expect(await ledger.work.read(`job_results/more.sh.${line}/made.txt`)).toBe(`${line}\n`);
    for (let line = 1; line <= 7; line++)
      expect(await ledger.work.read(`job_results/jobs.sh.${line}/made.txt`)).toBe(
        `made by jobs.sh.${line}\n`,
      );
  });
});
