// `--merge`: one file for stdout and stderr of a job, in exact order.

import { existsSync, readdirSync } from "node:fs";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { LIGHT_NO_GPU } from "../rig/batch.js";
import { runCommand } from "../rig/command.js";
import { startSshd, type TestHost } from "../rig/sshd.js";
import { until } from "../rig/until.js";
import { makeWorkspace, type Workspace } from "../rig/workspace.js";

let host: TestHost;
let work: Workspace;

beforeAll(async () => {
  host = await startSshd({ name: "one" });
});
beforeEach(async () => {
  work = await makeWorkspace({
    "both.sh": "for i in 1 2 3 4 5; do echo out $i; echo err $i >&2; done\n",
    // A plain command, which a fork runs, and one that gets its own shell.
    "jobs.sh": "sh both.sh\nfor i in 1 2 3 4 5; do echo out $i; echo err $i >&2; done; exit 3\n",
  });
});
afterEach(() => work.remove());
afterAll(() => host?.stop());

const BOTH = [1, 2, 3, 4, 5].map((i) => `out ${i}\nerr ${i}\n`).join("");
const files = () => readdirSync(work.path("job_results")).filter((name) => !name.startsWith("."));

test.each(["max_jobs: 1", "max_jobs: 1\nplain_slots: true"])(
  "a job has one file for both streams, in exact order (%j)",
  async (settings) => {
    const args = ["jobs.sh", "--machines", await host.machineFile(settings), ...LIGHT_NO_GPU, "--merge"];
    const { code, stdout, stderr } = await runCommand([...args, "--tee"], { cwd: work.dir });
    expect(code, stdout + stderr).toBe(1);
    for (const name of ["jobs.sh.1", "jobs.sh.2"]) {
      expect(await work.read(`job_results/${name}.out`)).toBe(BOTH);
      const told = stdout.split("\n").filter((line) => line.startsWith(`${name}: `));
      expect(told.map((line) => `${line.slice(name.length + 2)}\n`).join("")).toBe(BOTH);
    }
    expect(files()).toEqual(["jobs.sh.1", "jobs.sh.1.out", "jobs.sh.2", "jobs.sh.2.out"]);
    expect(stdout).toMatch(/2 .*exit 3.*err 5/);
    const logs = await runCommand(["logs", "2"], { cwd: work.dir, program: "sshoal" });
    expect(logs).toMatchObject({ code: 0, stdout: BOTH });
  },
);

test("a batch keeps the setting: jobs after --detach are collected the same way", async () => {
  await work.write("jobs.sh", "#@ --merge\n\nsh both.sh\nsh both.sh\n");
  const args = ["jobs.sh", "--machines", await host.machineFile("max_jobs: 1"), ...LIGHT_NO_GPU];
  expect((await runCommand([...args, "--detach"], { cwd: work.dir })).code).toBe(0);
  const logs = (...words: string[]) => runCommand(["logs", ...words], { cwd: work.dir, program: "sshoal" });
  await until("both have ended", () => host.pids().length === 0);
  expect(await logs("4")).toMatchObject({ code: 0, stdout: BOTH, stderr: "" });
  const attached = await runCommand(["attach"], { cwd: work.dir, program: "sshoal" });
  expect(attached.code, attached.stdout + attached.stderr).toBe(0);
  for (const line of [3, 4]) expect(await work.read(`job_results/jobs.sh.${line}.out`)).toBe(BOTH);
  expect(existsSync(work.path("job_results/jobs.sh.3.err"))).toBe(false);
  expect((await runCommand([...args, "--rerun", "all"], { cwd: work.dir })).code).toBe(0);
  expect(await work.read("job_results/jobs.sh.3.out")).toBe(BOTH);
});
