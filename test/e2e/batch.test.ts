// A whole batch on two machines, as people see it: what runs, what is collected, what is printed.

import { existsSync } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { afterAll, afterEach, beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import {
  EMPTY_SPOOL,
  LIGHT_NO_GPU,
  listBelow,
  listSpool,
  listTrees,
  parseEvents,
  waitFor,
} from "../rig/batch.js";
import { runCommand, spawnCommand } from "../rig/command.js";
import { type BatchHost, hasManyMachines, startHost } from "../rig/host.js";
import { until } from "../rig/until.js";
import { makeWorkspace, type Workspace } from "../rig/workspace.js";

let one: BatchHost;
let two: BatchHost;
/** The working directory of the test, and a directory that jobs on all hosts can see. */
let work: Workspace;
let seen: Workspace;

beforeAll(async () => {
  [one, two] = await Promise.all([startHost({ name: "one" }), startHost({ name: "two" })]);
});
beforeEach(async () => {
  [work, seen] = await Promise.all([makeWorkspace(), makeWorkspace()]);
});
afterEach(() => Promise.all([work.remove(), seen.remove()]));
afterAll(() => Promise.all([one?.stop(), two?.stop()]));

async function machines(extra: string): Promise<string[]> {
  return ["--machines", await one.machineFile(extra), await two.machineFile(extra)];
}

test.runIf(hasManyMachines)(
  "every job runs exactly once, four at a time on two slots of two machines",
  async () => {
    const jobs = Array.from({ length: 12 }, (_, index) =>
      index < 4
        ? // They continue only if all four run at the same time.
          `echo x >> ${seen.dir}/$SSHOAL_JOB; until [ $(ls ${seen.dir} | wc -l) -ge 4 ]; do sleep 0.05; done`
        : `echo x >> ${seen.dir}/$SSHOAL_JOB; echo out $SSHOAL_JOB; echo err $SSHOAL_JOB >&2; echo made > made.txt`,
    );
    await work.write("jobs.sh", jobs.map((job) => `${job}\n`).join(""));
    const { code, stdout } = await runCommand(
      ["jobs.sh", ...(await machines("max_jobs: 2")), ...LIGHT_NO_GPU],
      {
        cwd: work.dir,
      },
    );
    expect(stdout).toMatch(/\n12 succeeded, 0 failed in \d+s\n$/);
    expect(code).toBe(0);
    const names = jobs.map((_, index) => `jobs.sh.${index + 1}`);
    expect((await readdir(seen.dir)).sort()).toEqual([...names].sort());
    for (const name of names) expect(await seen.read(name)).toBe("x\n");
    for (const name of names.slice(4)) {
      expect(await work.read(`job_results/${name}.out`)).toBe(`out ${name}\n`);
      expect(await work.read(`job_results/${name}.err`)).toBe(`err ${name}\n`);
      expect(listBelow(work.path("job_results", name))).toEqual(["made.txt"]);
    }
  },
);

test("prints the lines that people grep for, and where to look", async () => {
  await work.write("sub/jobs.sh", "# a comment is no job\necho fine\n\necho bad >&2; exit 3\ntrue\n");
  const file = await one.machineFile("max_jobs: 1");
  const args = ["sub/jobs.sh", "--machines", file, ...LIGHT_NO_GPU];
  const first = await runCommand(args, { cwd: work.dir });
  const [limits, choices, ...rest] = first.stdout.trimEnd().split("\n");
  expect([limits, choices]).toEqual(["machine limits:  {'one.yaml': 1}", "machine gpu choices: [[]]"]);
  expect(rest.slice(0, 6).sort()).toEqual([
    "failed: sub_jobs.sh.4; echo bad >&2; exit 3",
    "finished: sub_jobs.sh.2; echo fine",
    "finished: sub_jobs.sh.5; true",
    "started: sub_jobs.sh.2;  echo fine",
    "started: sub_jobs.sh.4;  echo bad >&2; exit 3",
    "started: sub_jobs.sh.5;  true",
  ]);
  const order = rest.filter((line) => line.startsWith("started:")).map((line) => line.split(";")[0]);
  expect(order).toEqual(["started: sub_jobs.sh.2", "started: sub_jobs.sh.4", "started: sub_jobs.sh.5"]);
  expect(rest.slice(6)).toEqual([
    expect.stringMatching(/^2 succeeded, 1 failed in \d+s$/),
    expect.stringMatching(/^\S 4 {2}exit 3 {2}one\.yaml {2}\d+s {2}bad$/),
    expect.stringMatching(/^Next: sshoal logs 4\W+sshoal retry --failed\W+sshoal results$/),
  ]);
  expect(first.stderr).toMatch(/^copying 1 file, \d+ B\n/);
  expect(first.code).toBe(1);

  const second = await runCommand(args, { cwd: work.dir });
  expect(second.stdout.trimEnd().split("\n")).toEqual([
    ...[2, 4, 5].map(
      (line) =>
        `WARNING: job results already exists for line ${line}, skipping evaluation: delete if you wish to rerun${line === 4 ? "; it failed (exit code 3): --retry-failed runs it again" : ""}`,
    ),
    expect.stringMatching(/^0 succeeded, 0 failed, 3 skipped \(1 of them failed before\) in \d+s$/),
    expect.stringMatching(/^Next: sshoal logs 4\W/),
  ]);
  expect(second.stderr).toBe("");
  expect(second.code).toBe(1);
});

test("a job whose results are deleted runs again, and no other", async () => {
  const counting = `echo x >> ${seen.dir}/$SSHOAL_JOB`;
  await work.write("jobs.sh", `${counting}\n${counting}; [ -e ${seen.dir}/fixed ]\n`);
  const args = ["jobs.sh", "--machines", await one.machineFile("max_jobs: 1"), ...LIGHT_NO_GPU];
  expect((await runCommand(args, { cwd: work.dir })).code).toBe(1);
  await rm(work.path("job_results/jobs.sh.2"), { recursive: true });
  await seen.write("fixed", "");
  const { code, stdout } = await runCommand(args, { cwd: work.dir });
  expect(stdout).toMatch(/\n1 succeeded, 0 failed, 1 skipped in \d+s\n$/);
  expect(code).toBe(0);
  expect(await seen.read("jobs.sh.1")).toBe("x\n");
  expect(await seen.read("jobs.sh.2")).toBe("x\nx\n");
});

test(".out and .err grow while the job runs", async () => {
  await work.write("jobs.sh", `echo first; echo oops >&2; ${waitFor(seen.path("go"))}; echo last\n`);
  const args = ["jobs.sh", "--machines", await one.machineFile("max_jobs: 1"), ...LIGHT_NO_GPU];
  const command = spawnCommand(args, { cwd: work.dir });
  const growing = async (stream: string) => work.read(`job_results/jobs.sh.1.${stream}`).catch(() => "");
  await until("its first words are here", async () => (await growing("out")) === "first\n");
  await until("its errors are here", async () => (await growing("err")) === "oops\n");
  expect(existsSync(work.path("job_results/jobs.sh.1"))).toBe(false);
  await seen.write("go", "");
  expect((await command.ended).code).toBe(0);
  expect(await work.read("job_results/jobs.sh.1.out")).toBe("first\nlast\n");
  expect(await work.read("job_results/jobs.sh.1.err")).toBe("oops\n");
});

test("a job that exceeds --timeout is ended with all its processes, and its output is kept", async () => {
  await work.write("jobs.sh", "echo so far; echo made > made.txt; sleep 1000 & sleep 1000\ntrue\n");
  const args = ["jobs.sh", "--machines", await one.machineFile("max_jobs: 1"), ...LIGHT_NO_GPU];
  const { code, stdout } = await runCommand([...args, "--timeout", "1s"], { cwd: work.dir });
  expect(stdout).toContain("1 succeeded, 1 failed in");
  expect(stdout).toMatch(/\n\S 1 {2}timed out {2}one\.yaml {2}\d+s/);
  expect(code).toBe(1);
  expect(await work.read("job_results/jobs.sh.1.out")).toBe("so far\n");
  expect(await work.read("job_results/jobs.sh.1/made.txt")).toBe("made\n");
  await until("nothing runs there any more", () => one.pids().length === 0);
});

test("a signal that ends a job is named", async () => {
  await work.write("jobs.sh", "kill -9 $$\n");
  const args = ["jobs.sh", "--machines", await one.machineFile("max_jobs: 1"), ...LIGHT_NO_GPU];
  const { code, stdout } = await runCommand(args, { cwd: work.dir });
  expect(stdout).toMatch(/\n\S 1 {2}SIGKILL {2}one\.yaml /);
  expect(code).toBe(1);
});

test.runIf(hasManyMachines)("--json prints everything about a run, one event per line", async () => {
  await work.write("jobs.sh", "echo hello\nexit 4\n");
  const { code, stdout } = await runCommand(
    ["jobs.sh", ...(await machines("max_jobs: 1")), ...LIGHT_NO_GPU, "--json"],
    { cwd: work.dir },
  );
  const events = parseEvents(stdout);
  for (const event of events)
    expect(event).toMatchObject({ v: 2, kind: expect.any(String), at: expect.any(Number) });
  expect(events[0]).toMatchObject({
    kind: "run-started",
    script: "jobs.sh",
    jobs: [
      { id: 1, line: 1, name: "jobs.sh.1", command: "echo hello" },
      { id: 2, line: 2, name: "jobs.sh.2", command: "exit 4" },
    ],
  });
  expect(events.at(-1)).toMatchObject({
    kind: "run-ended",
    counts: { succeeded: 1, failed: 1, stopped: 0, lost: 0, unfinished: 0, skipped: 0 },
  });
  expect(code).toBe(1);
  for (const machine of ["one.yaml", "two.yaml"]) {
    const kinds = events.filter((event) => event.machine === machine).map(({ kind }) => kind);
    expect(kinds).toEqual(
      expect.arrayContaining(["machine-ready", "staged", "jobs-assigned", "machine-done"]),
    );
  }
  for (const [line, exitCode] of [
    [1, 0],
    [2, 4],
  ]) {
    const ofJob = events.filter((event) => event.job === line);
    expect(ofJob.map(({ kind }) => kind)).toEqual(["job-started", "job-ended", "job-collected"]);
    expect(new Set(ofJob.map(({ name, attempt }) => `${name} ${attempt}`))).toEqual(
      new Set([`jobs.sh.${line} 1`]),
    );
    expect(ofJob[1]).toMatchObject({ outcome: { kind: "exited", code: exitCode } });
  }
});

test("only the tree is left on the machines, and an unchanged one is not sent again", async () => {
  const host = await startHost({ name: "fresh" });
  onTestFinished(() => host.stop());
  const root = `${host.homeDir}/.sshoal`;
  await work.write("data.txt", "some data\n");
  await work.write("jobs.sh", "cat data.txt > copy.txt\n");
  const args = ["jobs.sh", "--machines", await host.machineFile("max_jobs: 2"), ...LIGHT_NO_GPU, "--json"];
  const staging = (stdout: string) => parseEvents(stdout).filter(({ kind }) => kind === "staging");

  const first = await runCommand(args, { cwd: work.dir });
  expect(first.code).toBe(0);
  expect(staging(first.stdout).at(-1)).toMatchObject({ sentBytes: 34, totalBytes: 34 });
  // If the machine is this computer, client and machine share one home.
  const ours = hasManyMachines ? /^\.sshoal\// : /^\.(sshoal|cache|local)\//;
  expect(listBelow(host.homeDir).filter((path) => !ours.test(path))).toEqual([]);
  expect(listSpool(root)).toEqual(EMPTY_SPOOL);
  const trees = listTrees(root);
  expect(trees).toEqual([expect.stringMatching(/^[0-9a-f]{40}$/)]);
  await until("no loop is left", () => host.pids().length === 0);

  await rm(work.path("job_results"), { recursive: true });
  // A new time stamp is no new content.
  await work.write("data.txt", "some data\n");
  const second = await runCommand(args, { cwd: work.dir });
  expect(second.code).toBe(0);
  expect(staging(second.stdout)).toMatchObject([{ sentBytes: 0, totalBytes: 0 }]);
  expect(await work.read("job_results/jobs.sh.1/copy.txt")).toBe("some data\n");
  expect(listTrees(root)).toEqual(trees);
  expect(listSpool(root)).toEqual(EMPTY_SPOOL);
});
