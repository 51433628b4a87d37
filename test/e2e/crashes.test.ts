// The first jobs crash at once in the same way: everywhere, or on one machine only.

import { existsSync, readFileSync } from "node:fs";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { LIGHT_NO_GPU, parseEvents, waitFor } from "../rig/batch.js";
import { runCommand, spawnCommand } from "../rig/command.js";
import { startSshd, type TestHost } from "../rig/sshd.js";
import { runOnTerminal } from "../rig/terminal.js";
import { until } from "../rig/until.js";
import { makeWorkspace, type Workspace } from "../rig/workspace.js";

let one: TestHost;
let two: TestHost;
let work: Workspace;
let seen: Workspace;

beforeAll(async () => {
  [one, two] = await Promise.all([startSshd({ name: "one" }), startSshd({ name: "two" })]);
});
beforeEach(async () => {
  [work, seen] = await Promise.all([makeWorkspace(), makeWorkspace()]);
});
afterEach(() => Promise.all([work.remove(), seen.remove()]));
afterAll(() => Promise.all([one?.stop(), two?.stop()]));

const JOBS = 12;

/** The first three crash. Each other job notes that it begins, and succeeds once a file "go" exists. */
function lines(): string {
  const crash = "echo Traceback >&2; echo \"KeyError: 'lr'\" >&2; exit 3";
  const waits = `echo $SSHOAL_JOB >>${seen.path("begun")}; ${waitFor(seen.path("go"))}`;
  return Array.from({ length: JOBS }, (_, index) => `${index < 3 ? crash : waits}\n`).join("");
}

const argsFor = async (script = "jobs.sh") => {
  await work.write("jobs.sh", lines());
  return [script, "--machines", await one.machineFile("max_jobs: 1"), ...LIGHT_NO_GPU];
};

function begun(): string[] {
  const file = seen.path("begun");
  return existsSync(file) ? readFileSync(file, "utf8").split("\n").slice(0, -1) : [];
}

/** Of the file's lines, or of stdin. */
async function untilHalted(args: readonly string[], input?: string) {
  const command = spawnCommand(args, { cwd: work.dir });
  command.child.stdin.end(input ?? "");
  await command.until(({ stderr }) => stderr().includes("nothing new starts"));
  await seen.write("go", "");
  return command.ended;
}

describe("everywhere", () => {
  test("without a terminal nothing new starts, the exit code is 1, and the fix is one command away", async () => {
    const args = await argsFor();
    const { code, stderr } = await untilHalted(args);
    expect(code).toBe(1);
    expect(stderr).toContain(
      "WARNING: the first 3 jobs crashed in the same way: exit 3; jobs.sh.1 printed last:\n  Traceback\n  KeyError: 'lr'\n",
    );
    expect(stderr).toContain("--no-pause runs all jobs anyway\n");
    expect(stderr).toContain("after a fix: type the same command with --retry-failed\n");
    // A job may begin before the client has taken it back.
    expect(begun().length).toBeLessThan(JOBS - 3);
    await work.write("jobs.sh", "true\n".repeat(JOBS));
    const again = await runCommand([...args, "--retry-failed"], { cwd: work.dir });
    expect(again.code, again.stderr).toBe(0);
  });

  test("--json has the crash, and the exit code is 1", async () => {
    const command = spawnCommand([...(await argsFor()), "--json"], { cwd: work.dir });
    await command.until(({ stdout }) => stdout().includes('"kind":"same-crash"'));
    await seen.write("go", "");
    const { code, stdout } = await command.ended;
    expect(code).toBe(1);
    const crash = parseEvents(stdout).find(({ kind }) => kind === "same-crash");
    expect(crash).toMatchObject({
      jobs: [1, 2, 3],
      outcome: { kind: "exited", code: 3 },
      failure: "exit",
      stderrTail: "Traceback\nKeyError: 'lr'\n",
      action: "halt",
    });
  });

  test("jobs from stdin", async () => {
    const { code } = await untilHalted(await argsFor("-"), lines());
    expect(code).toBe(1);
    expect(begun().length).toBeLessThan(JOBS - 3);
  });

  test("--no-pause runs all jobs", async () => {
    await seen.write("go", "");
    const { code, stdout, stderr } = await runCommand([...(await argsFor()), "--no-pause"], {
      cwd: work.dir,
    });
    expect(code, stderr).toBe(1);
    expect(stdout).toContain(`${JOBS - 3} succeeded, 3 failed`);
    expect(stderr).not.toContain("crashed");
  });

  test("on a terminal the batch pauses with the traceback, and c continues", async () => {
    const terminal = runOnTerminal(await argsFor(), {
      cwd: work.dir,
      home: work.dir,
      env: { LANG: "C.UTF-8", NO_COLOR: "1" },
    });
    await terminal.shows("paused, no new jobs · c continue · d detach · q leave or stop");
    await terminal.shows("c starts them anyway");
    expect(terminal.lines().filter((line) => line === "  Traceback")).toHaveLength(1);
    await seen.write("go", "");
    await until("the job that had begun has ended", () => terminal.shown().includes("0 running"));
    const before = begun().length;
    expect(before).toBeLessThan(JOBS - 3);
    terminal.type("c");
    expect(await terminal.ended).toBe(1);
    expect(begun()).toHaveLength(JOBS - 3);
    expect(terminal.shown()).toContain(`${JOBS - 3} succeeded, 3 failed`);
  });
});

test("d in a paused batch leaves once the machine has given the waiting jobs back, and the next client runs them", async () => {
  await work.write("jobs.sh", `${"echo Traceback >&2; exit 1\n".repeat(3)}${"echo fine\n".repeat(20)}`);
  const args = ["jobs.sh", "--machines", await one.machineFile("max_jobs: 1"), ...LIGHT_NO_GPU];
  const terminal = runOnTerminal(args, {
    cwd: work.dir,
    home: work.dir,
    env: { LANG: "C.UTF-8", NO_COLOR: "1" },
  });
  await terminal.shows("c starts them anyway");
  terminal.type("d");
  expect(await terminal.ended).toBe(0);
  expect(terminal.shown()).toMatch(/\d+ jobs wait for you: the same command resumes the batch/);
  const { stdout } = await runCommand([...args, "--no-pause"], { cwd: work.dir });
  // The first client may have collected the crashes, and what the slot began before the pause reached it.
  const counts =
    /^(\d+) succeeded, (\d+) failed(?:, (\d+) skipped(?: \((\d+) of them failed before\))?)?/m.exec(stdout) ??
    [];
  const [succeeded = 0, failed = 0, skipped = 0, failedBefore = 0] = counts
    .slice(1)
    .map((n) => Number(n ?? 0));
  expect([succeeded + failed + skipped, failed + failedBefore]).toEqual([23, 3]);
});

describe("on one of two machines", () => {
  const machines = async () => [
    "--machines",
    await one.machineFile("max_jobs: 2"),
    await two.machineFile("max_jobs: 2\nenv: {IS_BAD: yes}"),
  ];
  const bad = () =>
    `[ -z "$IS_BAD" ] || [ -e ${seen.path("fixed")} ] || { echo 'ImportError: libcuda.so.1' >&2; exit 1; }`;

  test("it is set aside, and everything is done on the other", async () => {
    await work.write("jobs.sh", `${bad()}; echo done\n`.repeat(30));
    const args = ["jobs.sh", ...(await machines()), "--retries", "0", ...LIGHT_NO_GPU];
    const { code, stdout, stderr } = await runCommand(args, { cwd: work.dir });
    expect(code, stderr).toBe(0);
    expect(stdout).toContain("30 succeeded, 0 failed");
    expect(stderr).toContain(
      "WARNING: two.yaml is set aside, because its first jobs crashed in the same way: exit 1;",
    );
    expect(stderr).toContain("  ImportError: libcuda.so.1\n");
    expect(stderr).toContain(
      "to check it: sshoal doctor --machines two.yaml; to use it again: sshoal undrain two.yaml\n",
    );
    for (let job = 1; job <= 30; job++)
      expect(await work.read(`job_results/jobs.sh.${job}.out`)).toBe("done\n");
  });

  test("undrain uses it again", async () => {
    const waits = `[ -e ${seen.path("first")} ] || { true >${seen.path("first")}; exit; }; ${waitFor(seen.path("go"))}`;
    await work.write("jobs.sh", `${bad()}; ${waits}\n`.repeat(12));
    const args = ["jobs.sh", ...(await machines()), ...LIGHT_NO_GPU, "--json"];
    const command = spawnCommand(args, { cwd: work.dir });
    await command.until(({ stdout }) => stdout().includes('"kind":"machine-set-aside"'));
    await seen.write("fixed", "");
    const { code, stderr } = await runCommand(["undrain", "two.yaml"], { cwd: work.dir, program: "sshoal" });
    expect(code, stderr).toBe(0);
    const startsOnTwo = (text: string) =>
      parseEvents(
        text.slice(text.indexOf('"kind":"machine-set-aside"'), text.lastIndexOf("\n")).replace(/^.*\n/, ""),
      ).filter(({ kind, machine }) => kind === "job-started" && machine === "two.yaml");
    await command.until(({ stdout }) => startsOnTwo(stdout()).length > 0);
    await seen.write("go", "");
    expect((await command.ended).code).toBe(0);
  });
});
