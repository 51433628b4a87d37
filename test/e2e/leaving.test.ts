// How a person leaves a batch: by keys in the live view, by Ctrl-C, Ctrl-Z, --detach, or by closing the window.

import { existsSync, readFileSync } from "node:fs";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { LIGHT_NO_GPU, listBelow, waitFor } from "../rig/batch.js";
import { runCommand } from "../rig/command.js";
import { makeHome } from "../rig/own-home.js";
import { killAll } from "../rig/processes.js";
import { startSshd, type TestHost } from "../rig/sshd.js";
import { type OnTerminal, runOnTerminal, type TerminalOptions } from "../rig/terminal.js";
import { until } from "../rig/until.js";
import { makeWorkspace, type Workspace } from "../rig/workspace.js";

let host: TestHost;
let work: Workspace;
let seen: Workspace;
let home: Workspace;

beforeAll(async () => {
  host = await startSshd({ name: "box" });
});
beforeEach(async () => {
  [work, seen, home] = await Promise.all([makeWorkspace(), makeWorkspace(), makeHome()]);
});
afterEach(async () => {
  killAll(host.pids());
  await Promise.all([work.remove(), seen.remove(), home.remove()]);
});
afterAll(() => host.stop());

const HINT = "d detach · q leave or stop · ? keys";
const SANE = /\sisig icanon\b.*\secho echoe\b/s;

/** Two slots. Each job notes that it begins, and ends once a file of its name exists. */
async function argsFor(jobs: number): Promise<string[]> {
  const job = `echo $SSHOAL_JOB >>${seen.path("begun")}; ${waitFor(`${seen.dir}/$SSHOAL_JOB`)}`.replaceAll(
    "'",
    '"',
  );
  await work.write("jobs.sh", `${job}\n`.repeat(jobs));
  return ["jobs.sh", "--machines", await host.machineFile("max_jobs: 2"), ...LIGHT_NO_GPU];
}

function begun(): string[] {
  const file = seen.path("begun");
  return existsSync(file) ? readFileSync(file, "utf8").split("\n").slice(0, -1).sort() : [];
}

async function finish(...numbers: number[]): Promise<void> {
  for (const number of numbers) await seen.write(`jobs.sh.${number}`, "");
}

/** Jobs that no slot has taken, and that were not taken back. */
function waitingThere(): string[] {
  const paths = listBelow(`${host.homeDir}/.sshoal/batches`);
  const jobs = paths.filter((path) => path.endsWith("/command")).map((path) => path.replace(/command$/, ""));
  return jobs.filter((job) => !paths.includes(`${job}claim`));
}

function onTerminal(args: readonly string[], options: Partial<TerminalOptions> = {}): OnTerminal {
  return runOnTerminal(args, { cwd: work.dir, home: home.dir, env: { LANG: "C.UTF-8" }, ...options });
}

async function start(jobs: number, options: Partial<TerminalOptions> = {}): Promise<OnTerminal> {
  const terminal = onTerminal(await argsFor(jobs), options);
  await shows(terminal, "2 running");
  return terminal;
}

/** Now, not only at some earlier time. */
async function shows(terminal: OnTerminal, text: string): Promise<void> {
  await until(`the screen holds ${text}`, () => terminal.lines().some((line) => line.includes(text)));
}

function sshoal(...args: string[]) {
  return runCommand(args, { cwd: work.dir, home: home.dir, program: "sshoal" });
}

test("d detaches: jobs continue, and attach follows them", async () => {
  const terminal = await start(3, { afterwards: 'echo "code $?"; stty -a' });
  await shows(terminal, HINT);
  terminal.type("d");
  await terminal.ended;
  expect(terminal.lines()).toContain("2 jobs continue without you; sshoal attach follows them");
  expect(terminal.lines()).toContain("code 0");
  expect(terminal.shown()).toMatch(SANE);
  expect(terminal.lines().join("\n")).not.toMatch(/detach ·|unfinished/);
  await finish(1, 2, 3);
  const { code, stdout, stderr } = await sshoal("attach");
  expect(code, stderr).toBe(0);
  expect(stdout).toContain("3 succeeded, 0 failed");
});

test("Ctrl-C drains and shows the keys: c continues, and a second Ctrl-C stops", async () => {
  const terminal = await start(4, { afterwards: 'echo "code $?"; stty -a' });
  terminal.type("\x03");
  await shows(terminal, "draining, 2 jobs finish · c continue · s stop them · d detach");
  await finish(1);
  await shows(terminal, "draining, 1 job finishes · c continue · s stop it · d detach");
  expect(begun()).toEqual(["jobs.sh.1", "jobs.sh.2"]);
  terminal.type("c");
  await shows(terminal, HINT);
  await until("a waiting job begins", () => begun().length === 3);
  await shows(terminal, "2 running");
  terminal.type("\x03");
  await shows(terminal, "draining, 2 jobs finish");
  terminal.type("\x03");
  await terminal.ended;
  expect(terminal.shown()).toMatch(SANE);
  expect(terminal.lines()).toContain("code 130");
  expect(terminal.lines().join("\n")).toContain("1 succeeded, 0 failed, 3 stopped");
});

test("c continues a batch that was attached to and drained there", async () => {
  const args = await argsFor(3);
  expect((await runCommand([...args, "--detach"], { cwd: work.dir, home: home.dir })).code).toBe(0);
  const terminal = onTerminal(["attach"], { program: "sshoal", afterwards: 'echo "code $?"' });
  await shows(terminal, "2 running");
  await shows(terminal, HINT);
  terminal.type("\x03");
  await shows(terminal, "draining, 2 jobs finish");
  await until("no job waits on the machine", () => waitingThere().length === 0);
  terminal.type("c");
  await shows(terminal, HINT);
  await finish(1, 2, 3);
  await terminal.ended;
  expect(terminal.lines()).toContain("code 0");
  expect(begun()).toEqual(["jobs.sh.1", "jobs.sh.2", "jobs.sh.3"]);
});

test("q asks whether to detach, drain or stop, and Esc goes back; ? lists the keys", async () => {
  const terminal = await start(3);
  const question = "d detach, jobs continue · r drain, no new jobs · s stop 2 jobs";
  terminal.type("q");
  await shows(terminal, question);
  terminal.type("\x1b");
  await shows(terminal, HINT);
  terminal.type("?");
  await shows(terminal, "Ctrl-Z");
  terminal.type("\x1b[D?");
  await shows(terminal, HINT);
  terminal.type("q");
  await shows(terminal, question);
  terminal.type("r");
  await shows(terminal, "draining, 2 jobs finish");
  terminal.type("s");
  expect(await terminal.ended).toBe(130);
  expect(terminal.lines().join("\n")).toContain("0 succeeded, 0 failed, 3 stopped");
  expect(begun()).toEqual(["jobs.sh.1", "jobs.sh.2"]);
});

test("--detach prints how many jobs continue, and status agrees at once", async () => {
  const left = await runCommand([...(await argsFor(3)), "--detach"], { cwd: work.dir, home: home.dir });
  expect(left.code, left.stderr).toBe(0);
  expect(left.stderr).toMatch(
    /\n2 jobs continue without you; sshoal attach follows them\n1 more waits on the machines and begins there\n/,
  );
  expect(left.stdout).not.toContain("unfinished");
  const { stdout } = await sshoal("status");
  expect(stdout).toContain("0 succeeded, 2 running, 1 waiting");
  await finish(1, 2, 3);
  const attached = await sshoal("attach");
  expect(attached.stdout).toMatch(/^resuming: 0 done, 2 last seen running on box\.yaml, 1 waiting$/m);
  expect(attached.code, attached.stderr).toBe(0);
});

test("Ctrl-Z stops the client, fg draws the view again, and neither leaves fragments", async () => {
  const terminal = await start(3, { isInShell: true });
  terminal.type("\x1a");
  await shows(terminal, "Stopped");
  const stopped = terminal.lines();
  expect(stopped.join("\n")).not.toContain("running");
  expect(stopped.at(-1)).toBe("ready>");
  terminal.type("stty -a\r");
  await until("the terminal is as it was", () => SANE.test(terminal.shown()));
  terminal.type("fg\r");
  await shows(terminal, HINT);
  expect(terminal.lines().filter((line) => line.includes("2 running"))).toHaveLength(1);
  terminal.type("d");
  await shows(terminal, "2 jobs continue without you");
  terminal.type("exit\r");
  expect(await terminal.ended).toBe(0);
  expect(terminal.lines().join("\n")).not.toContain("2 running");
});

test("a smaller window and a larger one show the view once", async () => {
  const terminal = await start(3);
  await shows(terminal, HINT);
  const views = () => terminal.lines().filter((line) => line.includes("2 running"));
  for (const [columns, rows] of [
    [50, 24],
    [50, 8],
    [80, 5],
    [100, 30],
  ] as const) {
    terminal.resize(columns, rows);
    await until("the view fits", () =>
      terminal
        .lines()
        .slice(0, -1)
        .every((line) => line.length <= columns),
    );
    expect(views()).toHaveLength(1);
  }
  terminal.type("d");
  expect(await terminal.ended).toBe(0);
  expect(views()).toEqual([]);
});

for (const signal of ["SIGTERM", "SIGHUP"] as const) {
  test(`${signal}: jobs continue, and the terminal is restored`, async () => {
    const terminal = await start(3, { afterwards: "stty -a" });
    process.kill(clientPid(), signal);
    await terminal.ended;
    expect(terminal.lines()).toContain("2 jobs continue without you; sshoal attach follows them");
    expect(terminal.shown()).toMatch(SANE);
    await finish(1, 2, 3);
    expect((await sshoal("attach")).code).toBe(0);
    expect(begun()).toHaveLength(3);
  });
}

function clientPid(): number {
  return JSON.parse(readFileSync(work.path("job_results/.sshoal/jobs.sh.lock"), "utf8")).pid;
}

test("jobs from stdin: keys are read from the terminal", async () => {
  const [, ...args] = await argsFor(3);
  const terminal = onTerminal(["-", ...args], { stdin: work.path("jobs.sh") });
  await shows(terminal, HINT);
  await shows(terminal, "2 running");
  terminal.type("d");
  expect(await terminal.ended).toBe(0);
  expect(terminal.lines()).toContain("2 jobs continue without you; sshoal attach follows them");
});
