// sshoal why: the measured reason on each machine, with a client that follows the batch and without.

import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import { LIGHT, waitFor } from "../rig/batch.js";
import { runCommand, spawnCommand } from "../rig/command.js";
import { STAND_IN_BIN, saveGpus } from "../rig/gpus.js";
import { startSshd, type TestHost } from "../rig/sshd.js";
import { until } from "../rig/until.js";
import { makeWorkspace, type Workspace } from "../rig/workspace.js";

let host: TestHost;
let work: Workspace;
let seen: Workspace;

beforeAll(async () => {
  host = await startSshd({ name: "gpu", path: [STAND_IN_BIN] });
});
beforeEach(async () => {
  [work, seen] = await Promise.all([makeWorkspace(), makeWorkspace()]);
  cards(24_000);
});
afterEach(() => Promise.all([work.remove(), seen.remove()]));
afterAll(() => host.stop());

/** One card for jobs, and one that the machine file excludes. */
function cards(memoryFree: number): void {
  const processes = [{ pid: process.pid, memory: 24_576 - memoryFree, name: "/opt/python" }];
  saveGpus(join(host.homeDir, "nvidia-smi.state"), { gpus: [{ memoryFree, processes }, {}] });
}

function why(...args: string[]) {
  return runCommand(["why", ...args], { program: "sshoal", cwd: work.dir });
}

async function begun(job: string): Promise<void> {
  await until(`${job} has begun`, () => seen.read(job).then(Boolean, () => false));
}

const waits = (job: string) => `echo > ${seen.path(job)}; ${waitFor(seen.path("go"))}`;

test("jobs behind a running one, while a client follows the batch", async () => {
  await work.write("jobs.sh", `${waits("one")}\n${waits("two")}\ntrue\n`);
  const machine = await host.machineFile("exclude_gpus: [1]");
  const client = spawnCommand(["jobs.sh", "--machines", machine, ...LIGHT], { cwd: work.dir });
  onTestFinished(() => void client.child.kill());
  await begun("one");
  const running = await why("1");
  expect(running).toMatchObject({ code: 0, stderr: "" });
  expect(running.stdout).toMatch(/^1 runs on gpu\.yaml:0 for \d+s\n$/);
  const all = await why();
  expect(all.code).toBe(0);
  const [head, ...rows] = all.stdout.split("\n");
  expect(head).toMatch(/^2 and 1 more wait: needs 1 card with 1000 MB, [\d.]+ cores?, \d+ MB$/);
  expect(rows[0]).toMatch(/^gpu\.yaml {2}card 0 {2}runs (job 1|a job of this batch)$/);
  expect(rows[1]).toMatch(/^ {10}card 1 {2}excluded by \S*gpu\.yaml$/);
  const { stdout } = await why("3", "--json");
  expect(JSON.parse(stdout)).toMatchObject({
    kind: "why",
    name: "jobs.sh.3",
    state: "waiting",
    machines: [{ machine: "gpu.yaml", kind: "waits", isNever: false, shortages: [{ kind: "gpus" }] }],
  });
  await seen.write("go", "");
  expect((await client.ended).code).toBe(0);
  expect((await why("2")).stdout).toMatch(/^2 succeeded on gpu\.yaml after \d+s\n$/);
  expect((await why()).stdout).toBe("no job waits\n");
  expect(await why("99")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("there is no job 99 here"),
  });
});

test("memory that another process and a job have, without a client, and a machine that is gone", async () => {
  await work.write("jobs.sh", `${waits("one")}\n${waits("two")}\n`);
  const machine = await host.machineFile("exclude_gpus: [1]");
  const shared = ["--no-reserve-gpu", "--gpu-memory-required", "20GB", "--gpu-utilization", "0.5"];
  const args = ["jobs.sh", "--machines", machine, "--detach", ...LIGHT, ...shared];
  expect((await runCommand(args, { cwd: work.dir })).code).toBe(0);
  await begun("one");
  cards(2048);
  const { stdout, code } = await why("2");
  const [head, row] = stdout.split("\n");
  expect(head).toMatch(/^2 waits: needs 1 shared card with 20 GB, /);
  expect(row).toMatch(
    /^gpu\.yaml {2}card 0 {2}0 GB free of 24, needs 20: \S+'s \S+ 22 GB, (job 1|a job of this batch) declared 20 GB$/,
  );
  expect(code).toBe(0);
  await host.halt();
  const gone = await why("2");
  await host.start();
  expect(gone.code).toBe(3);
  expect(gone.stdout).toMatch(/\ngpu\.yaml {2}unreachable: /);
  cards(24_000);
  await seen.write("go", "");
  expect((await runCommand(["attach"], { program: "sshoal", cwd: work.dir })).code).toBe(0);
});
