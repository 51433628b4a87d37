// Command lines as people type them.

import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { LIGHT, LIGHT_NO_GPU, listBelow } from "../rig/batch.js";
import { type CommandOptions, runCommand } from "../rig/command.js";
import { STAND_IN_BIN, saveGpus } from "../rig/gpus.js";
import { startSshd, type TestHost } from "../rig/sshd.js";
import { makeWorkspace, type Workspace } from "../rig/workspace.js";

let gpu: TestHost;
let plain: TestHost;
let work: Workspace;

beforeAll(async () => {
  [gpu, plain] = await Promise.all([
    startSshd({ name: "gpu", path: [STAND_IN_BIN] }),
    startSshd({ name: "plain" }),
  ]);
  saveGpus(join(gpu.homeDir, "nvidia-smi.state"), { gpus: [{}, { uuid: "GPU-abc-def" }] });
});
beforeEach(async () => {
  work = await makeWorkspace({ "jobs.sh": "ls -A; echo made > made.txt\n" });
});
afterEach(() => work.remove());
afterAll(() => Promise.all([gpu?.stop(), plain?.stop()]));

async function run(args: readonly string[], options: Partial<CommandOptions> = {}) {
  return runCommand(args, { cwd: work.dir, ...options });
}

async function batch(...args: string[]) {
  const result = await run(["jobs.sh", ...args]);
  expect(result.code, result.stdout + result.stderr).toBe(0);
  return result;
}

const out = (line = 1) => work.read(`job_results/jobs.sh.${line}.out`);
const results = () => listBelow(work.path("job_results/jobs.sh.1"));

test("--memory-required 10GB means 10240 MB", async () => {
  const { code, stderr } = await run(["jobs.sh", "--no-gpu-required", "--memory-required", "900000GB"]);
  expect(code).toBe(3);
  expect(stderr).toContain("a job needs 921600000 MB");
  const odd = await run(["jobs.sh", "--gpu-memory-required", "3 cards"]);
  expect(odd).toMatchObject({
    code: 2,
    stderr:
      'error: --gpu-memory-required takes a size, got "3 cards"\n' +
      "try: for example --gpu-memory-required 3000 (MB) or 10GB\n",
  });
});

test("--machines gpu.yaml,plain.yaml means two machines; a file with a comma in its name is one", async () => {
  const files = [await gpu.machineFile("max_jobs: 1"), await plain.machineFile("max_jobs: 1")];
  const { stdout } = await batch("--machines", files.join(","), ...LIGHT_NO_GPU);
  expect(stdout).toContain("machine limits:  {'gpu.yaml': 1, 'plain.yaml': 1}");
  await work.write("one,two.yaml", "transport: local\n");
  const probe = await run(["probe", "--machines", "one,two", ...LIGHT_NO_GPU], { program: "sshoal" });
  expect(probe.stdout).toMatch(/^one,two\.yaml {2}\d/m);
});

test("--gpus with a UUID, or the start of one", async () => {
  await work.write("jobs.sh", "echo $CUDA_VISIBLE_DEVICES\n");
  const file = await gpu.machineFile();
  await batch("--machines", file, ...LIGHT, "--gpus", "GPU-abc");
  expect(await out()).toBe("1\n");
  const { code, stderr } = await run(["jobs.sh", "--rerun", "all", "--machines", file, "--gpus", "GPU-x"]);
  expect(stderr).toMatch(/GPU GPU-x: no such card, there are GPU-\S+, GPU-abc-def \(--gpus\)/);
  expect(code).toBe(3);
});

test("an option may be shortened, also in the script, if it is unambiguous", async () => {
  await work.write("jobs.sh", "#@ --time 9h\n\necho $A $B\n");
  await batch(
    "--machine",
    await plain.machineFile("max_jobs: 1"),
    ...LIGHT_NO_GPU,
    "--env",
    "A=--mach",
    "--en=B=2",
  );
  expect(await out(3)).toBe("--mach 2\n");
});

test("--copy-forward without paths: jobs start in an empty directory", async () => {
  await batch("--machines", await plain.machineFile(), ...LIGHT_NO_GPU, "--copy-forward");
  expect(await out()).toBe("");
  expect(results()).toEqual(["made.txt"]);
});

test("--copy-backwards without paths: only the output is collected", async () => {
  await batch("--machines", await plain.machineFile(), ...LIGHT_NO_GPU, "--copy-backwards");
  expect(await out()).toBe("jobs.sh\n");
  expect(results()).toEqual([]);
});

test("-V prints the version", async () => {
  for (const program of ["execute-batch", "sshoal", "simple-gpu-scheduler", "simple-hypersearch"] as const) {
    expect(await run(["-V"], { program })).toEqual(await run(["--version"], { program }));
    expect(await run(["-V"], { program })).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/),
    });
  }
});

test("simple_hypersearch pads values as Python does: {lr:0>4}", async () => {
  const { code, stdout } = await run(["t {lr:0>4} {lr:_^3} {lr:.1}", "-p", "lr", "12"], {
    program: "simple-hypersearch",
  });
  expect(code).toBe(0);
  expect(stdout).toBe("t 0012 12_ 1\n");
});

test.each([
  ["stats", "did you mean status?"],
  ["prob", "did you mean probe?"],
  ["jobs.sh", "sshoal run jobs.sh"],
  ["frobnicate", "sshoal --help"],
])("sshoal %s: there is no such command, and the hint says what to type", async (word, hint) => {
  const { code, stderr } = await run([word], { program: "sshoal" });
  expect(stderr).toBe(`error: unknown command '${word}'\ntry: ${hint}\n`);
  expect(code).toBe(2);
});

test("sshoal drain of a machine without jobs does not ask whether that machine is meant", async () => {
  await batch("--machines", await plain.machineFile("max_jobs: 1"), ...LIGHT_NO_GPU);
  const { code, stderr } = await run(["drain", "plain.yaml"], { program: "sshoal" });
  expect(stderr).toBe(
    "error: no batch of this directory has jobs on plain.yaml\ntry: sshoal status shows where jobs are\n",
  );
  expect(code).toBe(2);
});

test("a name that has little in common with localhost is not taken for it", async () => {
  await work.write("machines/localhost.yaml", "transport: local\n");
  const { stderr } = await run(["jobs.sh", "--machines", "host"]);
  expect(stderr).toContain("try: there are machines/localhost.yaml\n");
});
