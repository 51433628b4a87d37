// `sshoal status`: the same facts while a client runs, after it was killed, after it left, and at the end.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { LIGHT_NO_GPU, parseEvents, waitFor } from "../rig/batch.js";
import { runCommand, spawnCommand } from "../rig/command.js";
import { startRelay } from "../rig/relay.js";
import { startSshd, type TestHost } from "../rig/sshd.js";
import { until } from "../rig/until.js";
import { makeWorkspace, type Workspace } from "../rig/workspace.js";

let host: TestHost;
let far: TestHost;
let work: Workspace;
let seen: Workspace;

beforeAll(async () => {
  [host, far] = await Promise.all([startSshd({ name: "one" }), startSshd({ name: "far" })]);
});
beforeEach(async () => {
  [work, seen] = await Promise.all([makeWorkspace(), makeWorkspace()]);
});
afterEach(() => Promise.all([work.remove(), seen.remove()]));
afterAll(() => Promise.all([host?.stop(), far?.stop()]));

async function status(...args: string[]) {
  const result = await runCommand(["status", ...args], { program: "sshoal", cwd: work.dir });
  return { ...result, lines: result.stdout.split("\n").slice(0, -1) };
}

/** The identity of the batch that a first line is about. */
function batchIn(line = ""): string {
  return /\((.*)\)$/.exec(line)?.[1] ?? "";
}

function record(): Promise<string> {
  const [name] = readdirSync(work.path("job_results/.sshoal")).filter((each) => each.endsWith(".jsonl"));
  return work.read(`job_results/.sshoal/${name}`);
}

test("while a client runs, after kill -9, when all has ended, and after the end", async () => {
  const failing = "echo fine; echo 'KeyError: x' >&2; exit 3";
  await work.write("jobs.sh", `${failing}\necho epoch 2/3; ${waitFor(seen.path("go"))}\ntrue\n`);
  const args = ["jobs.sh", "--machines", await host.machineFile("max_jobs: 1"), ...LIGHT_NO_GPU];
  const client = spawnCommand(args, { cwd: work.dir });
  await client.until(({ stdout }) => stdout().includes("started: jobs.sh.2"));
  await client.until(({ stdout }) => stdout().includes("failed: jobs.sh.1"));

  const outFile = work.path("job_results/jobs.sh.2.out");
  await until("its output is on this disk", () => existsSync(outFile) && readFileSync(outFile).length > 0);
  const followed = await status();
  const where = work.dir.replaceAll(/[.]/g, "\\.");
  expect(followed.lines).toEqual([
    expect.stringMatching(
      `^jobs\\.sh  running  \\d+s(, ~\\d+s left)?  in ${where}  \\(jobs\\.sh-[0-9a-f]{8}\\)$`,
    ),
    "0 succeeded, 1 failed, 1 running, 1 waiting, 3 in all",
    `followed by process ${client.child.pid}`,
    "STATE    JOB  WHERE     TIME  WHAT",
    expect.stringMatching(/^failed {5}1 {2}one\.yaml +\d+s {2}exit 3: KeyError: x$/),
    expect.stringMatching(/^running {4}2 {2}one\.yaml +\d+s {2}epoch 2\/3$/),
    expect.stringMatching(/^waiting {4}3 +\d+s {2}one\.yaml: 1 of 1 busy$/),
  ]);
  expect(followed).toMatchObject({ code: 0, stderr: "" });

  client.child.kill("SIGKILL");
  await client.ended;
  const before = await record();
  const left = await status("jobs.sh");
  expect(left.stdout).toMatch(/^jobs\.sh {2}running {2}\d+s/);
  expect(left.stdout).toMatch(
    /\n0 succeeded, 1 failed, 1 running, 1 waiting, 3 in all\nno client follows it: sshoal attach jobs\.sh/,
  );
  // The last line comes from the machine now.
  await rm(outFile);
  expect((await status("jobs.sh")).stdout).toMatch(/^running {4}2 {2}one\.yaml +\d+s {2}epoch 2\/3$/m);

  // No client sees what happens now: only the machine has it.
  await seen.write("go", "");
  await until("nothing runs there any more", () => host.pids().length === 0);
  const ended = await status();
  expect(ended.stdout).toMatch(/^jobs\.sh {2}failed {2}took \d+s /);
  expect(ended.stdout).toMatch(
    /\n2 succeeded, 1 failed, 2 of them to collect, 3 in all\nno client follows it:/,
  );
  expect(ended.stdout).not.toContain("running");
  expect(await record()).toBe(before);

  expect((await runCommand(args, { cwd: work.dir })).code).toBe(1);
  const over = await status();
  expect(over.lines).toEqual([
    expect.stringMatching(/^jobs\.sh {2}failed {2}took \d+s {2}in .* {2}\(jobs\.sh-[0-9a-f]{8}\)$/),
    "2 succeeded, 1 failed, 3 in all",
    "STATE   JOB  WHERE     TIME  WHAT",
    expect.stringMatching(/^failed {4}1 {2}one\.yaml +\d+s {2}exit 3: KeyError: x$/),
  ]);
  const batch = batchIn(over.lines[0]);
  const times = { startedAt: expect.any(Number), elapsedMs: expect.any(Number) };
  const place = { machine: "one.yaml", slot: 0, attempt: 1 };
  const about = { v: 2, kind: "job-status", batch, collected: true, ...place, ...times };
  // A job that takes some seconds on a busy computer also has a footprint.
  const events = parseEvents((await status("--json")).stdout).map(({ footprint: _, ...rest }) => rest);
  expect(events).toEqual([
    {
      ...about,
      job: 1,
      name: "jobs.sh.1",
      line: 1,
      key: "5000000000001-1-1",
      state: "failed",
      outcome: { kind: "exited", code: 3 },
      failure: "exit",
      lastLine: "KeyError: x",
    },
    {
      ...about,
      job: 2,
      name: "jobs.sh.2",
      line: 2,
      key: "5000000000002-2-1",
      state: "succeeded",
      outcome: { kind: "exited", code: 0 },
    },
    {
      ...about,
      job: 3,
      name: "jobs.sh.3",
      line: 3,
      key: "5000000000003-3-1",
      state: "succeeded",
      outcome: { kind: "exited", code: 0 },
    },
  ]);
});

test("after --detach the machines are asked; an unreachable one is named, and its jobs are as last known", async () => {
  const relay = await startRelay(far.port);
  const file = await host.machineFile("max_jobs: 1");
  await work.write(
    "far.yaml",
    `username: ${far.username}\nip: 127.0.0.1\nport: ${relay.port}\nssh_key_path: ${far.keyPath}\nmax_jobs: 1\n`,
  );
  await work.write(
    "jobs.sh",
    `echo x > ${seen.dir}/began-$SSHOAL_MACHINE; ${waitFor(seen.path("go"))}\n`.repeat(4),
  );
  const args = ["jobs.sh", "--machines", file, work.path("far.yaml"), ...LIGHT_NO_GPU];
  expect((await runCommand([...args, "--detach"], { cwd: work.dir })).code).toBe(0);
  await until("both have begun", () => readdirSync(seen.dir).length === 2);

  const asked = await status("--json");
  const jobs = parseEvents(asked.stdout);
  expect(jobs.map(({ state }) => state).sort()).toEqual(["running", "running", "waiting", "waiting"]);
  expect(
    jobs
      .filter(({ state }) => state === "running")
      .map(({ machine }) => machine)
      .sort(),
  ).toEqual(["far.yaml", "one.yaml"]);

  relay.refuse();
  const unreached = await status();
  expect(unreached.code).toBe(0);
  expect(unreached.stdout).toMatch(/\n0 succeeded, 2 running, 2 waiting, 4 in all\nno client follows it:/);
  expect(unreached.stdout).toContain("\nfar.yaml cannot be asked, its jobs are shown as last known: ");
  for (const line of unreached.lines) expect(line.length).toBeLessThanOrEqual(80);
  const json = await status("--json");
  expect(json.stderr).toContain("WARNING: far.yaml cannot be asked, its jobs are shown as last known: ");
  expect(parseEvents(json.stdout)).toHaveLength(4);

  await seen.write("go", "");
  relay.accept();
  expect((await runCommand(args, { cwd: work.dir })).code).toBe(0);
  await relay.stop();
});

test("two batches of a directory are distinguished, by name or by script", async () => {
  await work.write("a.sh", "true\n");
  await work.write("sub/b.sh", "true\nfalse\n");
  const options = ["--machines", await host.machineFile("max_jobs: 2"), ...LIGHT_NO_GPU];
  for (const script of ["a.sh", "sub/b.sh"]) await runCommand([script, ...options], { cwd: work.dir });
  const all = await status();
  expect(all.stdout).toMatch(
    /^a\.sh {2}succeeded .*\n1 succeeded, 1 in all\nsub_b\.sh {2}failed .*\n1 succeeded, 1 failed, 2 in all\n/,
  );
  const one = await status("sub/b.sh");
  expect(one.stdout).toMatch(/^sub_b\.sh {2}failed {2}took \d+s .*\n1 succeeded, 1 failed, 2 in all\n/);
  expect((await status(batchIn(one.lines[0]))).stdout).toBe(one.stdout);
  const typo = await status("sub/c.sh");
  expect(typo).toMatchObject({ code: 2, stdout: "" });
  expect(typo.stderr).toBe("error: there is no batch sub/c.sh here\ntry: did you mean sub/b.sh?\n");
});

test("if nothing was ever run, it says where to look", async () => {
  const { code, stdout, stderr } = await status();
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toBe(
    `error: no batch was ever run in ${work.dir}\ntry: cd to where execute_batch was started; sshoal status --all lists your directories\n`,
  );
});
