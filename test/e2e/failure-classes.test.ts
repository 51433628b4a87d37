// Every class of failure has its own word wherever a person or a program looks.

import { execFileSync } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { giveToRemote } from "../rig/account.js";
import { LIGHT_NO_GPU, parseEvents } from "../rig/batch.js";
import { runCommand } from "../rig/command.js";
import { makeHome } from "../rig/own-home.js";
import { startSshd, type TestHost } from "../rig/sshd.js";
import { makeWorkspace, type Workspace } from "../rig/workspace.js";

const isRoot = process.getuid?.() === 0;

let host: TestHost;
let work: Workspace;
let home: Workspace;

beforeAll(async () => {
  host = await startSshd({ name: "one" });
});
beforeEach(async () => {
  [work, home] = await Promise.all([makeWorkspace(), makeHome()]);
});
afterEach(() => Promise.all([work.remove(), home.remove()]));
afterAll(() => host?.stop());

const options = () => ({ cwd: work.dir, home: home.dir });
const sshoal = (...words: string[]) => runCommand(words, { ...options(), program: "sshoal" });

const JOBS = [
  [
    "echo 'E: CUDA out of memory. Tried 2 GiB' >&2; echo worker died >&2; exit 1",
    "GPU memory",
    "gpu-out-of-memory",
  ],
  ["echo 'write: No space left on device' >&2; exit 1", "disk full", "disk-full"],
  ["kill -USR1 $$", "exit 138", "exit"],
  ["kill -SEGV $$", "SIGSEGV", "signal"],
  ["echo epoch 1 >&2; sleep 600", "timed out", "timeout"],
  ["echo 'KeyError: lr' >&2; exit 3", "exit 3", "exit"],
] as const;

test("the closing list, status, --json and the record", async () => {
  await work.write("jobs.sh", JOBS.map(([command]) => `${command}\n`).join(""));
  const args = [
    "jobs.sh",
    "--machines",
    await host.machineFile("max_jobs: 6"),
    "--timeout",
    "2s",
    ...LIGHT_NO_GPU,
  ];
  const { code, stdout, stderr } = await runCommand(args, options());
  expect(code, stderr).toBe(1);
  const status = await sshoal("status");
  for (const [index, [, word]] of JOBS.entries()) {
    expect(stdout).toMatch(new RegExp(`^[x✗] +${index + 1} +${word} `, "m"));
    expect(status.stdout).toMatch(new RegExp(`^failed +${index + 1} .* ${word}(:|$)`, "m"));
  }
  expect(status.stdout).toMatch(/^failed +6 .* exit 3: KeyError: lr$/m);
  expect(status.stdout).toMatch(/^failed +1 .* GPU memory: worker died$/m);
  const classes = JOBS.map(([, , failure]) => failure);
  for (const command of ["status", "results"]) {
    const objects = parseEvents((await sshoal(command, "--json")).stdout);
    expect(objects.map(({ failure }) => failure)).toEqual(classes);
  }
  const again = parseEvents((await runCommand([...args, "--rerun", "all", "--json"], options())).stdout);
  for (const kind of ["job-ended", "job-collected"]) {
    const events = again.filter((event) => event.kind === kind).sort((one, other) => one.job - other.job);
    expect(events.map(({ failure }) => failure)).toEqual(classes);
  }
  // Without its cause, an outcome has the class that its kind says.
  const record = parseEvents(await work.read("job_results/.sshoal/jobs.sh.jsonl"));
  const causes = record
    .filter(({ kind, job }) => kind === "job-ended" && job <= 2)
    .map(({ outcome }) => outcome.cause);
  expect(causes.slice(-2).sort()).toEqual(["disk-full", "gpu-out-of-memory"]);
});

test("a setup that fails", async () => {
  await work.write("jobs.sh", "echo ran\n");
  const machine = await host.machineFile("setup: ['echo no module >&2', 'exit 7']");
  const { code, stdout } = await runCommand(["jobs.sh", "--machines", machine, ...LIGHT_NO_GPU], options());
  expect(code).toBe(1);
  expect(stdout).toMatch(/^[x✗] +1 +setup failed .* no module$/m);
  expect(await work.read("job_results/jobs.sh.1.out")).toBe("");
  const [job] = parseEvents((await sshoal("status", "--json")).stdout);
  expect(job).toMatchObject({
    failure: "setup-failed",
    outcome: { kind: "exited", code: 7, cause: "setup-failed" },
  });
  await host.machineFile("");
});

test.skipIf(!isRoot)("a disk of the machine that is full", async () => {
  const dir = join(host.homeDir, "disk");
  await mkdir(dir);
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=2m", "sshoal-test", dir]);
  giveToRemote(dir);
  try {
    await work.write("jobs.sh", "cat /dev/zero >big 2>/dev/null; exit 1\n");
    const machine = await host.machineFile(`scratch: ${dir}`);
    const { stdout } = await runCommand(["jobs.sh", "--machines", machine, ...LIGHT_NO_GPU], options());
    expect(stdout).toMatch(/^[x✗] +1 +disk full .* sshoal: the disk is full here/m);
  } finally {
    execFileSync("umount", ["-l", dir]);
  }
});
