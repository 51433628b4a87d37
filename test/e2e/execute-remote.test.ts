// execute_remote: one command on one machine, as in ml-scheduler.

import { readdirSync, rmSync } from "node:fs";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { EMPTY_SPOOL, listBelow, listSpool, waitFor } from "../rig/batch.js";
import { runCommand, spawnCommand } from "../rig/command.js";
import { startSshd, type TestHost } from "../rig/sshd.js";
import { makeWorkspace, type Workspace } from "../rig/workspace.js";

let box: TestHost;
let work: Workspace;

beforeAll(async () => {
  box = await startSshd({ name: "box" });
});
beforeEach(async () => {
  work = await makeWorkspace({ "in/a.txt": "a\n", "b.txt": "b\n" });
});
afterEach(() => work.remove());
afterAll(() => box?.stop());

const options = () => ({ cwd: work.dir, program: "execute-remote" as const });

async function remote(command: string, ...more: string[]) {
  return runCommand([command, "--machine", await box.machineFile(), ...more], options());
}

test("prints the command's output, exits with its code, and copies nothing by default", async () => {
  const result = await remote("ls -A; echo out; echo err >&2; echo made > made.txt; exit 7");
  expect(result).toMatchObject({ code: 7, stdout: "out\n" });
  expect(result.stderr).toMatch(/^(WARNING: new host .*\n)?err\n$/);
  const [name, ...others] = readdirSync(work.path("job_results")).filter((each) => /^remote-\w+$/.test(each));
  expect(others).toEqual([]);
  expect(listBelow(work.path("job_results", name ?? ""))).toEqual([]);
  expect(await work.read(`job_results/${name}.out`)).toBe("out\n");
  expect(listSpool(`${box.homeDir}/.sshoal`)).toEqual(EMPTY_SPOOL.filter((path) => path !== "trees/"));
});

test("output arrives while the command runs", async () => {
  const go = work.path("go");
  const args = [`echo first; ${waitFor(go)}; echo last`, "--machine", await box.machineFile()];
  const command = spawnCommand(args, options());
  await command.until(({ stdout }) => stdout() === "first\n");
  await work.write("go", "");
  expect(await command.ended).toMatchObject({ code: 0, stdout: "first\nlast\n" });
});

test("attach follows a command whose client is gone: the rest of its output, and its exit code", async () => {
  const args = [
    `echo first; ${waitFor(work.path("go"))}; echo last; exit 7`,
    "--machine",
    await box.machineFile(),
  ];
  const command = spawnCommand(args, options());
  await command.until(({ stdout }) => stdout() === "first\n");
  command.child.kill("SIGKILL");
  await command.ended;
  await work.write("go", "");
  const attached = await runCommand(["attach"], { cwd: work.dir, program: "sshoal" });
  expect(attached).toMatchObject({ code: 7, stdout: "last\n" });
});

test("--copy-forward and --copy-backwards: only these files; --job-name: the name of the results", async () => {
  const { code, stdout, stderr } = await remote(
    "find . -type f; mkdir out; echo 1 > out/one; echo 2 > two",
    "--job-name=prepare",
    "--copy-forward=in",
    "--copy-backwards=out",
    "--verbose",
  );
  expect(code).toBe(0);
  expect(stderr).toContain("started on box.yaml\nexit code 0; 1 files in job_results/prepare\n");
  expect(stdout).toBe("./in/a.txt\n");
  expect(listBelow(work.path("job_results/prepare"))).toEqual(["out/", "out/one"]);
});

test("a name that already has results is refused", async () => {
  expect(await remote("true", "--job-name", "once")).toMatchObject({ code: 0 });
  expect(await remote("touch ran", "--job-name", "once")).toMatchObject({
    code: 2,
    stdout: "",
    stderr: "error: job_results/once exists already\ntry: give another --job-name\n",
  });
});

test("once its results are removed, a name can be given to another command", async () => {
  expect(await remote("exit 3", "--job-name", "again")).toMatchObject({ code: 3 });
  for (const ending of ["", ".out", ".err"])
    rmSync(work.path(`job_results/again${ending}`), { recursive: true, force: true });
  expect(await remote("echo two; exit 4", "--job-name", "again")).toMatchObject({ code: 4, stdout: "two\n" });
});

test.each([
  [[], "error: which command?\ntry: put it first: "],
  [["echo a"], "error: which machine?\ntry: execute_remote "],
  [["echo a", "--machine", "a,b"], "error: execute_remote runs on one machine\ntry: name one of them: "],
  [
    ["echo a", "--machine", "x.yaml", "--job-name", "a/b.3"],
    "error: --job-name a/b.3: a name has only letters",
  ],
  [["echo a", "--machine", "x.yaml", "--job-name", "x.old-1"], "try: --job-name x-old-1\n"],
])("%j is refused", async (args, said) => {
  const { code, stderr } = await runCommand(args, options());
  expect(stderr).toContain(said);
  expect(code).toBe(2);
});

test("an unreachable machine: exit code 3, with the reason", async () => {
  const file = await work.write("gone.yaml", "ip: 127.0.0.1\nport: 1\nusername: no-such-user\n");
  const { code, stdout, stderr } = await runCommand(["echo a", "--machine", file], options());
  expect(stderr).toContain("gone.yaml");
  expect(stdout).toBe("");
  expect(code).toBe(3);
});
