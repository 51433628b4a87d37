// --retry-on-oom: a job that runs out of memory runs once more, with a larger need.

import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { LIGHT, parseEvents, waitFor } from "../rig/batch.js";
import { makeCgroup } from "../rig/cgroup.js";
import { runCommand, spawnCommand } from "../rig/command.js";
import { STAND_IN_BIN, saveGpus } from "../rig/gpus.js";
import { startSshd, type TestHost } from "../rig/sshd.js";
import { makeWorkspace, type Workspace } from "../rig/workspace.js";

let host: TestHost;
let work: Workspace;
let seen: Workspace;

beforeAll(async () => {
  host = await startSshd({ name: "gpu", path: [STAND_IN_BIN] });
  saveGpus(join(host.homeDir, "nvidia-smi.state"), {
    gpus: [{ memoryTotal: 24_000, memoryFree: 24_000 }],
  });
});
beforeEach(async () => {
  [work, seen] = await Promise.all([makeWorkspace(), makeWorkspace()]);
});
afterEach(() => Promise.all([work.remove(), seen.remove()]));
afterAll(() => host?.stop());

/** Fails for want of GPU memory at first. Then it succeeds, if the other job has ended. */
const outAtFirst = () =>
  `mkdir ${seen.path("tried")} 2>/dev/null && echo 'CUDA out of memory. Tried 2 GiB' >&2 && exit 1; [ -e ${seen.path("ended")} ] || exit 9`;
const neighbour = () => `${waitFor(seen.path("go"))}; touch ${seen.path("ended")}`;

async function argsFor(jobs: readonly string[], ...more: string[]) {
  await work.write("jobs.sh", jobs.map((job) => `${job}\n`).join(""));
  const machine = await host.machineFile("");
  const sharing = ["--no-reserve-gpu", "--gpu-utilization", "0.1"];
  return ["jobs.sh", "--machines", machine, ...LIGHT, ...sharing, "--retry-on-oom", ...more];
}

const eventsIn = (stdout: string) => parseEvents(stdout.slice(0, stdout.lastIndexOf("\n") + 1));
const isAsked = (kind: string, job: number, stdout: string) =>
  eventsIn(stdout).some((event) => event.kind === kind && event.job === job);

/** Waits until job 1 waits on its machine for the card of its neighbour. */
const untilItWaits = (command: ReturnType<typeof spawnCommand>) =>
  command.until(({ stdout }) => isAsked("slot-waiting", 1, stdout()));

test("GPU memory: once more, alone on a card, after the neighbour has ended", async () => {
  const command = spawnCommand(await argsFor([neighbour(), outAtFirst()], "--json"), { cwd: work.dir });
  await command.until(({ stdout }) => isAsked("slot-waiting", 2, stdout()));
  await seen.write("go", "");
  const { code, stdout, stderr } = await command.ended;
  expect(code, stderr).toBe(0);
  const events = eventsIn(stdout);
  expect(events.find(({ kind }) => kind === "job-grown")).toMatchObject({
    job: 2,
    name: "jobs.sh.2",
    attempt: 1,
    failure: "gpu-out-of-memory",
    before: { gpu: { memoryMb: 1000, isReserved: false } },
    requirement: { gpu: { memoryMb: 2000, isReserved: true } },
    prefers: "gpu.yaml",
  });
  expect(events.findLast(({ kind }) => kind === "job-collected" || kind === "job-ended")).toMatchObject({
    job: 2,
    attempt: 2,
    run: 2,
  });
  expect(events.at(-1)).toMatchObject({ kind: "run-ended", counts: { succeeded: 2, failed: 0 } });
});

test("a client that is killed after the growth: the next one keeps the larger need", async () => {
  const args = await argsFor([outAtFirst(), neighbour()], "--json");
  const first = spawnCommand(args, { cwd: work.dir });
  await first.until(({ stdout }) => isAsked("job-grown", 1, stdout()));
  first.child.kill("SIGKILL");
  await first.ended;
  const second = spawnCommand(args, { cwd: work.dir });
  await untilItWaits(second);
  const why = await runCommand(["why", "1"], { cwd: work.dir, program: "sshoal" });
  expect(why.stdout).toContain("1 card with 1.9 GB");
  await seen.write("go", "");
  const { code, stdout, stderr } = await second.ended;
  expect(code, stdout + stderr).toBe(0);
  expect(eventsIn(stdout).filter(({ kind }) => kind === "job-grown")).toEqual([]);
});

test("the lines of a pipe, and a second time for want of memory", async () => {
  await work.write("jobs.sh", "echo CUDA out of memory >&2; exit 1\n");
  const args = await argsFor(["echo CUDA out of memory >&2; exit 1"], "--halt", "now,fail=1");
  const { code, stdout, stderr } = await runCommand(args, { cwd: work.dir });
  expect(code).toBe(1);
  expect(stderr).toContain(
    "WARNING: jobs.sh.1 on gpu.yaml: out of GPU memory: once more with 2000 MB of GPU memory, alone on its card\n",
  );
  expect(stderr).not.toContain("retrying:");
  expect(stdout.match(/^started: /gm)).toHaveLength(2);
  expect(stdout).toContain("0 succeeded, 1 failed");
  const status = await runCommand(["status", "--json"], { cwd: work.dir, program: "sshoal" });
  expect(parseEvents(status.stdout)).toMatchObject([{ state: "failed", failure: "gpu-out-of-memory" }]);
});

test("no machine can give more: it does not run once more, and the reason is printed", async () => {
  const args = await argsFor(["echo CUDA out of memory >&2; exit 1"], "--gpu-memory-required", "23000");
  const { code, stdout, stderr } = await runCommand(
    args.filter((word) => word !== "--no-reserve-gpu"),
    {
      cwd: work.dir,
    },
  );
  expect(code).toBe(1);
  expect(stderr).toContain(
    "WARNING: jobs.sh.1 on gpu.yaml: out of GPU memory: not once more, because no machine can give it more GPU memory\n",
  );
  expect(stdout.match(/^started: /gm)).toHaveLength(1);
});

describe("the kernel kills a job", () => {
  const cgroup = makeCgroup(600);
  afterAll(() => cgroup?.remove());

  test.skipIf(cgroup === null)("once more with twice its memory, by a line of the batch file", async () => {
    const hog = `! mkdir ${seen.path("tried")} 2>/dev/null || head -c 900000000 /dev/zero | tail`;
    const lines = ["#@ --retry-on-oom --memory-required 150", "", hog];
    await work.write("jobs.sh", `${lines.join("\n")}\n`);
    const command = spawnCommand(["jobs.sh", "--num-cpus", "0.01", "--no-gpu-required"], { cwd: work.dir });
    cgroup?.add(command.child.pid ?? 0);
    command.child.stdin.end();
    const { code, stdout, stderr } = await command.ended;
    expect(code, stdout + stderr).toBe(0);
    // More than twice, if its peak was measured.
    expect(stderr).toMatch(
      /^WARNING: jobs\.sh\.3 on localhost: out of memory: once more with [345]\d\d MB$/m,
    );
    expect(stdout.match(/^started: /gm)).toHaveLength(2);
  });
});
