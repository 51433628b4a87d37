// The environment of a job: its variables, its shell, the machine's setup.

import { rm } from "node:fs/promises";
import { afterAll, afterEach, beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import { LIGHT_NO_GPU } from "../rig/batch.js";
import { type CommandResult, runCommand } from "../rig/command.js";
import { type BatchHost, startHost } from "../rig/host.js";
import { makeWorkspace, type Workspace } from "../rig/workspace.js";

let host: BatchHost;
let work: Workspace;

beforeAll(async () => {
  host = await startHost({ name: "box" });
});
beforeEach(async () => {
  work = await makeWorkspace();
});
afterEach(() => work.remove());
afterAll(() => host?.stop());

interface Asked {
  readonly machine?: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** Runs jobs in one slot, one after the other. */
async function run(jobs: readonly string[], { machine = "", args = [], env = {} }: Asked = {}) {
  await work.write("jobs.sh", jobs.map((job) => `${job}\n`).join(""));
  const file = await host.machineFile(`max_jobs: 1\n${machine}`);
  const words = ["jobs.sh", "--machines", file, ...LIGHT_NO_GPU, ...args];
  return runCommand(words, { cwd: work.dir, env });
}

function out(line: number): Promise<string> {
  return work.read(`job_results/jobs.sh.${line}.out`);
}

function err(line: number): Promise<string> {
  return work.read(`job_results/jobs.sh.${line}.err`);
}

function expectSuccess({ code, stdout, stderr }: CommandResult): void {
  expect(code, stdout + stderr).toBe(0);
}

test("a job has its name, batch, machine and slot, and Python does not buffer its output", async () => {
  const names = ["SSHOAL_JOB", "SSHOAL_BATCH", "SSHOAL_MACHINE", "SSHOAL_SLOT", "PYTHONUNBUFFERED"];
  expectSuccess(await run([`printf '%s\\n' ${names.map((name) => `"$${name}"`).join(" ")}`]));
  const [job, batch, machine, slot, unbuffered] = (await out(1)).split("\n");
  expect([job, machine, slot, unbuffered]).toEqual(["jobs.sh.1", "box.yaml", "0", "1"]);
  expect(batch).toMatch(/^jobs\.sh-[0-9a-f]{8}$/);
});

test("without a GPU required, no card is hidden or shown", async () => {
  expectSuccess(await run([`echo "\${CUDA_VISIBLE_DEVICES-not set}"`]));
  expect(await out(1)).toBe("not set\n");
});

test("--env sets variables with any characters, and passes on those of this shell", async () => {
  const odd = `it's "odd" $HOME \`ls\` \\ two\nlines`;
  const result = await run(['printf \'%s|\' "$ODD" "$EMPTY" "$OURS"'], {
    args: ["--env", `ODD=${odd}`, "--env", "EMPTY=", "--env", "OURS"],
    env: { OURS: "from here" },
  });
  expectSuccess(result);
  expect(await out(1)).toBe(`${odd}||from here|`);
});

test("the machine file's env is also set, and --env takes precedence", async () => {
  const machine = "env:\n  DATA: /big disk/it's\n  SEED: 1\n  PYTHONUNBUFFERED: ''";
  const result = await run(['echo "$DATA $SEED"'], { machine, args: ["--env", "SEED=2"] });
  expectSuccess(result);
  expect(await out(1)).toBe("/big disk/it's 2\n");
});

test("setup runs before each job, in the same shell and directory", async () => {
  await work.write("activate", "export FROM_ACTIVATE=yes\n");
  const machine =
    "env: { NAME: world }\nsetup:\n  - . ./activate\n  - |\n    greet() {\n      echo hello $NAME\n    }";
  expectSuccess(await run(["greet; echo $FROM_ACTIVATE", "greet"], { machine }));
  expect(await out(1)).toBe("hello world\nyes\n");
  expect(await out(2)).toBe("hello world\n");
});

test("if setup fails, the job does not run, and .err has the reason", async () => {
  const { code, stdout } = await run(["echo ran"], { machine: "setup: echo no such module >&2; false" });
  expect(code).toBe(1);
  expect(stdout).toContain("failed: jobs.sh.1; echo ran\n");
  expect(stdout).toMatch(/\n\S 1 {2}setup failed .*sshoal: the setup of box\.yaml failed\n/);
  expect(await out(1)).toBe("");
  expect(await err(1)).toBe("no such module\nsshoal: the setup of box.yaml failed\n");
});

test("jobs run in bash, with any login shell", async () => {
  expectSuccess(
    await run([
      `a=(1 2 3); [[ \${a[1]} == 2 ]] && echo "\${#a[@]}"`,
      "set -o pipefail; false | true || echo caught",
    ]),
  );
  expect(await out(1)).toBe("3\n");
  expect(await out(2)).toBe("caught\n");
});

test("a job that reads stdin finds it empty", async () => {
  expectSuccess(await run(["cat; echo after", "read line || echo none"]));
  expect(await out(1)).toBe("after\n");
  expect(await out(2)).toBe("none\n");
});

test("locale and umask are those of the login", async () => {
  const other = await startHost({ name: "other", env: { LC_ALL: "C.UTF-8" } });
  onTestFinished(() => other.stop());
  await work.write("jobs.sh", 'umask; locale charmap; echo "$LC_ALL"\n');
  const args = ["--machines", await other.machineFile("max_jobs: 1\nsetup: umask"), ...LIGHT_NO_GPU];
  expectSuccess(await runCommand(["jobs.sh", ...args], { cwd: work.dir }));
  const mask = process.umask().toString(8).padStart(4, "0");
  expect(await out(1)).toBe(`${mask}\n${mask}\nUTF-8\nC.UTF-8\n`);
  await rm(work.path("job_results"), { recursive: true });
  expectSuccess(await run([`echo "\${LC_ALL-not set}"`]));
  expect(await out(1)).toBe("not set\n");
});

test("a line runs as it is written", async () => {
  const jobs = [
    'echo "a  b"  \'$HOME\' "\\$x" `echo y`;',
    "echo $((1+2)) # a comment",
    "  echo indented",
    "echo é 日本",
  ];
  expectSuccess(await run(jobs));
  expect(await Promise.all([1, 2, 3, 4].map(out))).toEqual([
    "a  b $HOME $x y\n",
    "3\n",
    "indented\n",
    "é 日本\n",
  ]);
});

test("a failed job is reported as failed, whatever the machine's setup does", async () => {
  const { code } = await run(["false", "exit 7"], { machine: "setup: 'true'" });
  expect(code).toBe(1);
  expect(await out(1)).toBe("");
});

test("a job that needs a fraction of a MB does not wait for ever", async () => {
  await work.write("jobs.sh", "echo ran\n");
  const args = [
    "--machines",
    await host.machineFile("max_jobs: 1"),
    "--no-gpu-required",
    "--num-cpus",
    "0.01",
  ];
  expectSuccess(await runCommand(["jobs.sh", ...args, "--memory-required", "1.5"], { cwd: work.dir }));
  expect(await out(1)).toBe("ran\n");
});
