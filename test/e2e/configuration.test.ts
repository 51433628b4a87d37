// Configuration files: what the built command takes from them, and what it says of their mistakes.

import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isRoot, remoteAccount, takeFromRemote } from "../rig/account.js";
import { parseEvents, waitFor } from "../rig/batch.js";
import { type CommandOptions, runCommand, spawnCommand } from "../rig/command.js";
import { useOwnHome } from "../rig/own-home.js";
import { startSshd, type TestHost } from "../rig/sshd.js";
import { until } from "../rig/until.js";
import type { Workspace } from "../rig/workspace.js";

const own = useOwnHome();

const USER = ".config/sshoal/config.yaml";
/** So little that a busy machine has room for it. */
const LIGHT = "num-cpus: 0.01\nmemory-required: 1\nno-gpu-required: true\n";

function options(more: Partial<CommandOptions> = {}): CommandOptions {
  return { cwd: own.work.dir, home: own.home.dir, program: "sshoal", ...more };
}

function sshoal(...args: string[]) {
  return runCommand(args, options());
}

/** A file of the account that the command runs as, and so are the directories above it. */
async function writeOwn(place: Workspace, path: string, text: string): Promise<string> {
  const file = await place.write(path, text);
  for (let above = dirname(file); above.startsWith(place.dir); above = dirname(above)) takeFromRemote(above);
  return file;
}

const writeUser = (text: string) => writeOwn(own.home, USER, text);
const writeProject = (text: string) => writeOwn(own.work, ".sshoal.yaml", text);
const writeJobs = (text: string) => writeOwn(own.work, "jobs.sh", text);

function settingsIn(stdout: string) {
  const started = parseEvents(stdout).find(({ kind }) => kind === "run-started");
  return started?.settings;
}

describe("a batch on this machine", () => {
  test("takes its needs and variables from the project, also in a directory below it", async () => {
    await writeProject(`${LIGHT}env: {MODEL: small, TOKEN: s3cret}\n`);
    await writeOwn(own.work, "sub/jobs.sh", "echo $MODEL; echo $TOKEN | wc -c\n");
    const cwd = own.work.path("sub");
    const { code, stdout, stderr } = await runCommand(
      ["jobs.sh"],
      options({ cwd, program: "execute-batch" }),
    );
    expect(code, stdout + stderr).toBe(0);
    expect(await own.work.read("sub/job_results/jobs.sh.1.out")).toBe("small\n7\n");
    const record = await own.work.read("sub/job_results/.sshoal/jobs.sh.jsonl");
    expect(record).toContain('"envNames":["MODEL","TOKEN"]');
    expect(record + stdout + stderr).not.toContain("s3cret");
  });

  test("command line over #@ over project over user", async () => {
    await writeUser(
      "num-cpus: 0.01\nmemory-required: 4\ntimeout: 4h\nmerge: true\nno-gpu-required: true\nenv: {A: user, B: user}\n",
    );
    await writeProject("memory-required: 3\ntimeout: 3h\nno-merge: true\nenv: {B: project, C: project}\n");
    await writeJobs("#@ --timeout 2h --env C=script --env D=script\n\necho $A $B $C $D\n");
    const { code, stdout, stderr } = await sshoal(
      "run",
      "jobs.sh",
      "--memory-required",
      "1",
      "--env",
      "D=typed",
      "--json",
    );
    expect(code, stdout + stderr).toBe(0);
    const settings = settingsIn(stdout);
    expect(settings).toMatchObject({
      requirement: { cpus: 0.01, memoryMb: 1, gpu: null },
      timeoutSeconds: 7200,
      envNames: ["A", "B", "C", "D"],
    });
    expect(settings).not.toHaveProperty("mergesOutput");
    expect(await own.work.read("job_results/jobs.sh.3.out")).toBe("user project script typed\n");
  });
});

test("a batch that continues without its command line gets variables from the files again", async () => {
  await writeProject(`${LIGHT}env: {MODEL: small}\n`);
  await writeJobs("echo $MODEL $SEED\n");
  expect(await sshoal("run", "jobs.sh")).toMatchObject({ code: 0 });
  await writeProject(`${LIGHT}env: {MODEL: large}\n`);
  const { code, stdout, stderr } = await sshoal("retry", "1");
  expect(code, stdout + stderr).toBe(0);
  expect(await own.work.read("job_results/jobs.sh.1.out")).toBe("large\n");
  // What was typed is not known again, also if a file has a variable of that name.
  expect(await sshoal("run", "jobs.sh", "--rerun", "all", "--env", "MODEL=typed")).toMatchObject({ code: 0 });
  const refused = await sshoal("retry", "1");
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain("was started with --env MODEL, whose values are not stored");
});

describe("groups", () => {
  let hosts: TestHost[];
  beforeAll(async () => {
    hosts = await Promise.all([startSshd({ name: "gpu1" }), startSshd({ name: "gpu2" })]);
  });
  afterAll(() => Promise.all(hosts.map((host) => host.stop())));

  /** Both machines as a group of the user. */
  async function writeGroup(more = ""): Promise<void> {
    const files = await Promise.all(hosts.map((host) => host.machineFile("max_jobs: 1")));
    await writeUser(`groups:\n  lab: [${files.join(", ")}]\n${LIGHT}${more}`);
  }

  const ON_MACHINE = "echo on $SSHOAL_MACHINE\n";

  test("by name: the batch, its record and every later command know the machines", async () => {
    await writeGroup();
    await writeJobs(ON_MACHINE.repeat(2));
    const { code, stdout, stderr } = await sshoal("run", "jobs.sh", "--machines", "@lab", "--json");
    expect(code, stdout + stderr).toBe(0);
    const started = parseEvents(stdout).find(({ kind }) => kind === "run-started");
    expect(started?.machines.map(({ name }: { name: string }) => name)).toEqual(["gpu1.yaml", "gpu2.yaml"]);
    expect(stdout).not.toContain("@lab");
    const probed = await sshoal("probe", "--machines", "@lab", "--json");
    expect(parseEvents(probed.stdout).map(({ machine }) => machine)).toEqual(["gpu1.yaml", "gpu2.yaml"]);
    expect((await sshoal("clean", "--machines", "@lab")).stdout).toMatch(/gpu1\.yaml[\s\S]*gpu2\.yaml/);
  });

  test("by default, with a way back to this machine", async () => {
    await writeGroup('machines: "@lab"\n');
    await writeJobs(ON_MACHINE);
    expect(await sshoal("run", "jobs.sh")).toMatchObject({ code: 0 });
    expect(await own.work.read("job_results/jobs.sh.1.out")).toMatch(/^on gpu[12]\.yaml\n$/);
    expect(await sshoal("run", "jobs.sh", "--no-machines", "--rerun", "all")).toMatchObject({ code: 0 });
    expect(await own.work.read("job_results/jobs.sh.1.out")).toBe("on localhost\n");
    await writeJobs(`#@ --machines @lab\n\n${ON_MACHINE}`);
    expect(await sshoal("run", "jobs.sh", "--rerun", "all")).toMatchObject({ code: 0 });
    expect(await own.work.read("job_results/jobs.sh.3.out")).toMatch(/^on gpu[12]\.yaml\n$/);
  });

  test("while a batch runs: a client that follows it reads the files again, and drain takes a group", async () => {
    await writeGroup('machines: "@lab"\nenv: {WHERE: first}\n');
    const [go, begun] = [own.home.path("go"), own.home.path("begun")];
    await mkdir(begun);
    await chmod(begun, 0o777);
    const job = (name: string) => `touch ${begun}/${name}; echo $WHERE; ${waitFor(go)}\n`;
    await chmod(own.home.dir, 0o755);
    await writeJobs(job("one") + job("two"));
    const client = spawnCommand(["run", "jobs.sh"], options());
    await until("both run", () => ["one", "two"].every((name) => existsSync(`${begun}/${name}`)));
    await writeProject("env: {WHERE: second}\n");
    await writeJobs(job("one") + job("two") + job("three"));
    const drained = await sshoal("drain", "@lab");
    expect(drained.stdout.split("\n").map((line) => line.split(";")[0])).toEqual([
      "draining: gpu1.yaml",
      "draining: gpu2.yaml",
      "",
    ]);
    expect(await sshoal("undrain", "@lab")).toMatchObject({ code: 0 });
    const again = spawnCommand(["run", "jobs.sh"], options());
    await again.until(({ stderr }) => stderr().includes("has read it again"));
    await own.home.write("go", "");
    takeFromRemote(own.home.dir);
    const ends = await Promise.all([client.ended, again.ended]);
    expect(
      ends.map(({ code }) => code),
      ends[0].stdout + ends[0].stderr,
    ).toEqual([0, 0]);
    expect(await own.work.read("job_results/jobs.sh.1.out")).toBe("first\n");
    expect(await own.work.read("job_results/jobs.sh.3.out")).toBe("second\n");
  });

  test("that are not there, and machines of a group that are not", async () => {
    await writeUser("groups: {lab: [nowhere.yaml]}\n");
    await writeJobs("true\n");
    const unknown = await sshoal("run", "jobs.sh", "--machines", "@lba");
    expect(unknown).toMatchObject({ code: 2, stdout: "" });
    expect(unknown.stderr).toBe(
      `error: there is no group @lba\ntry: did you mean @lab, defined in ${own.home.path(USER)}:1:10?\n`,
    );
    const missing = await sshoal("run", "jobs.sh", "--machines", "@lab");
    expect(missing.stderr).toMatch(
      /^error: nowhere\.yaml: there is no such machine file; .*; @lab has it, see .*:1:10\n/,
    );
    expect(existsSync(own.work.path("job_results"))).toBe(false);
  });
});

describe("files with mistakes", () => {
  test("all of them are reported, nothing begins, and help still answers", async () => {
    const user = await writeUser("timeout: 1\nmachins: [a]\nenv: {A: [s3cret]}\n");
    const project = await writeProject("groups: {lab: ['@lba']}\nlogs: {tail: x}\n");
    await writeJobs("true\n");
    for (const args of [["run", "jobs.sh"], ["status"], ["config"]]) {
      const { code, stdout, stderr } = await sshoal(...args);
      expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
      expect(stderr.split("\n").filter((line) => line.startsWith("error: "))).toEqual([
        `error: ${user}:1:10: --timeout takes a duration with a unit, got "1"`,
        `error: ${user}:2:1: unknown key "machins"`,
        `error: ${user}:3:10: env A must be text, got a list`,
        `error: ${project}:2:14: --tail takes a number <n>, got "x"`,
        `error: ${project}:1:16: there is no group @lba`,
      ]);
      expect(stderr).toContain("try: did you mean machines?\n");
    }
    expect(existsSync(own.work.path("job_results"))).toBe(false);
    expect(await sshoal("--help")).toMatchObject({ code: 0, stderr: "" });
    expect(await sshoal("run", "--help")).toMatchObject({ code: 0, stderr: "" });
    expect(await sshoal("--version")).toMatchObject({ code: 0, stderr: "" });
  });

  test("a contradiction names the file, and how to undo it", async () => {
    const user = await writeUser("no-gpu-required: true\n");
    await writeJobs("true\n");
    const { code, stderr } = await sshoal("run", "jobs.sh", "--gpus", "0");
    expect(code).toBe(2);
    expect(stderr).toBe(
      `error: --gpus and --no-gpu-required contradict each other; --no-gpu-required is set in ${user}:1:1\n` +
        "try: leave one of them out, or add --gpu-required\n",
    );
  });
});

describe("files that other accounts could write", () => {
  test("are refused, with what to type", async () => {
    const project = await writeProject(LIGHT);
    await chmod(project, 0o666);
    const { code, stderr } = await sshoal("status");
    expect(code).toBe(2);
    expect(stderr).toBe(
      `error: ${project}: other accounts can write it, and could make sshoal run commands as you\n` +
        `try: chmod go-w ${project}\n`,
    );
  });

  test("an odd path does not reach the terminal, and what to type is one word", async () => {
    const odd = "a\x1b]0;title\x07; b";
    await chmod(await writeOwn(own.work, `${odd}/.sshoal.yaml`, LIGHT), 0o666);
    const { stderr } = await runCommand(["status"], options({ cwd: own.work.path(odd) }));
    expect(stderr).toContain(`try: chmod go-w '${own.work.dir}/a\\x1b]0;title\\x07; b/.sshoal.yaml'\n`);
    expect(stderr).not.toContain("\x1b");
  });

  test.skipIf(!isRoot)(
    "another account's file above the working directory is refused, and a nearer one counts",
    async () => {
      const project = await writeProject(LIGHT);
      execFileSync("chown", [remoteAccount().name, project]);
      await writeOwn(own.work, "sub/jobs.sh", "true\n");
      const cwd = own.work.path("sub");
      const refused = await runCommand(["run", "jobs.sh"], options({ cwd }));
      expect(refused.code).toBe(2);
      expect(refused.stderr).toMatch(
        new RegExp(`^error: ${project}: it belongs to another account, .*\ntry: .*nearer directory\n$`),
      );
      expect(existsSync(own.work.path("sub/job_results"))).toBe(false);
      await writeOwn(own.work, "sub/.sshoal.yaml", LIGHT);
      expect(await runCommand(["run", "jobs.sh"], options({ cwd }))).toMatchObject({ code: 0 });
    },
  );
});

describe("sshoal config", () => {
  test("without files says so, and how to begin", async () => {
    const { code, stdout } = await sshoal("config");
    expect(code).toBe(0);
    expect(stdout).toContain(`user file     none (~/${USER})\n`);
    expect(stdout).toContain(
      `project file  none (${own.work.path(".sshoal.yaml")}, or in a directory above)\n`,
    );
    expect(stdout).toContain("to begin, write a file with lines such as\n  machines: [gpu1, gpu2]\n");
  });

  test("shows what holds, where it comes from, and neither values of variables nor the command of notify", async () => {
    const user = await writeUser(
      "groups: {lab: [gpu1]}\nmemory-required: 4GB\ntimeout: 1h\nlogs: {tail: 5}\n",
    );
    const project = await writeProject(
      "timeout: 2h\nenv: {TOKEN: s3cret}\nnotify: curl https://hooks.example/s3cret\n",
    );
    const { code, stdout } = await sshoal("config");
    expect(code).toBe(0);
    const lines = stdout.split("\n").map((line) => line.trim().split(/ {2,}/));
    expect(lines).toEqual([
      ["user file", `~/${USER}`],
      ["project file", project],
      [""],
      ["every command that has the option:"],
      ["memory-required", "4GB", `~/${USER}:2`],
      ["timeout", "2h", `${project}:1`],
      ["env", "TOKEN", `${project}:2`],
      ["notify", "(hidden)", `${project}:3`],
      [""],
      ["sshoal logs:"],
      ["tail", "5", `~/${USER}:4`],
      [""],
      ["groups:"],
      ["@lab", "gpu1", `~/${USER}:1`],
      [""],
    ]);
    expect((await sshoal("config", "logs")).stdout).not.toContain("timeout");
    const json = JSON.parse((await sshoal("config", "run", "--json")).stdout);
    expect(json.settings.map(({ key, value }: { key: string; value: string[] }) => [key, ...value])).toEqual([
      ["memory-required", "4GB"],
      ["timeout", "2h"],
      ["env", "TOKEN"],
      ["notify", "(hidden)"],
    ]);
    expect(json.files).toEqual([
      { level: "user", path: user, found: true },
      { level: "project", path: project, found: true },
    ]);
    expect(stdout + JSON.stringify(json)).not.toContain("s3cret");
  });

  test("refuses a command that does not exist", async () => {
    const { code, stderr } = await sshoal("config", "rnu");
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: "error: sshoal has no command rnu\ntry: did you mean sshoal config run?\n",
    });
  });
});
