// --notify: a command that is run once, on this computer, when a batch ends or when its first job fails.

import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { LIGHT_NO_GPU, waitFor } from "../rig/batch.js";
import { type LiveCommand, runCommand, spawnCommand } from "../rig/command.js";
import { entriesBelow } from "../rig/entries-below.js";
import { commandOf } from "../rig/processes.js";
import { startSshd, type TestHost } from "../rig/sshd.js";
import { until } from "../rig/until.js";
import { makeWorkspace, type Workspace } from "../rig/workspace.js";

let host: TestHost;
let home: Workspace;
let work: Workspace;
let gate: Workspace;

beforeAll(async () => {
  host = await startSshd({ name: "one" });
});
beforeEach(async () => {
  [home, work, gate] = await Promise.all([makeWorkspace(), makeWorkspace(), makeWorkspace()]);
});
afterEach(() => Promise.all([home, work, gate].map((each) => each.remove())));
afterAll(() => host?.stop());

const here = () => ({ cwd: work.dir, home: home.dir });
const execute = (...args: string[]) => runCommand(args, here());
const sshoal = (...args: string[]) => runCommand(args, { program: "sshoal", ...here() });
const follow = (...args: string[]): LiveCommand => spawnCommand(args, here());

const gated = (name: string) => `true > ${gate.path(`${name}-began`)}; ${waitFor(gate.path(name))}`;
const began = (name: string) => until(`${name} has begun`, () => existsSync(gate.path(`${name}-began`)));
const open = (name: string) => gate.write(name, "");

/** Adds a line for each time it is run. TOPSECRET stands for the address of a webhook. */
const telling = () =>
  `: TOPSECRET; echo "$SSHOAL_EVENT $SSHOAL_STATE $SSHOAL_SUMMARY" >> ${gate.path("told")}`;
const told = () =>
  existsSync(gate.path("told")) ? readFileSync(gate.path("told"), "utf8").split("\n").slice(0, -1) : [];
const notices = () => {
  const dir = home.path(".local/state/sshoal");
  const [name] = existsSync(dir) ? readdirSync(dir).filter((each) => each.startsWith("notices@")) : [];
  return name === undefined ? [] : readdirSync(`${dir}/${name}`).map((each) => `${dir}/${name}/${each}`);
};

async function onHost(script: string): Promise<string[]> {
  return [script, "--machines", await host.machineFile("max_jobs: 1"), ...LIGHT_NO_GPU];
}

test("at the end, with the facts in its environment; a batch that is done does not end again, a retry does", async () => {
  await work.write("jobs.sh", "true\nexit 3\n");
  const facts = `env | grep ^SSHOAL_ | sort > ${gate.path("facts")}; pwd >> ${gate.path("facts")}; ${telling()}`;
  const args = ["jobs.sh", ...LIGHT_NO_GPU, "--notify", facts];
  expect((await execute(...args)).code).toBe(1);
  expect(told()).toEqual([
    expect.stringMatching(/^end failed jobs\.sh: 1 succeeded, 1 failed of 2 in \d+s$/),
  ]);
  const env = await gate.read("facts");
  for (const fact of ["SUCCEEDED=1", "FAILED=1", "TOTAL=2", "UNFINISHED=0", "FAILED_JOBS=jobs.sh.2"])
    expect(env).toContain(`SSHOAL_${fact}\n`);
  expect(env).toMatch(/SSHOAL_BATCH=jobs\.sh-[0-9a-f]{8}\n/);
  expect(env).toContain(`SSHOAL_DIRECTORY=${work.dir}\n`);
  expect(env.endsWith(`\n${work.dir}\n`)).toBe(true);
  expect(notices()).toEqual([]);

  expect((await execute(...args)).code).toBe(1);
  expect(told()).toHaveLength(1);
  expect((await sshoal("retry", "--failed", "--notify", telling())).code).toBe(1);
  expect(told()).toHaveLength(2);
});

test("at the first failure, while the others go on; a #@ line can ask for it", async () => {
  const asked = `#@ --notify '${telling().replaceAll("'", "'\\''")}'\n\n`;
  await work.write("jobs.sh", `${asked}exit 1\n${gated("b")}\nexit 1\n`);
  const client = follow("jobs.sh", ...LIGHT_NO_GPU, "--notify-on", "failure");
  await until("the failure is reported", () => told().length === 1);
  expect(told()[0]).toMatch(/^failure running jobs\.sh: jobs\.sh\.[35] failed; /);
  await open("b");
  expect((await client.ended).code).toBe(1);
  expect(told()).toHaveLength(1);

  await work.write("fine.sh", "true\n");
  expect(
    (await execute("fine.sh", ...LIGHT_NO_GPU, "--notify", telling(), "--notify-on", "failure")).code,
  ).toBe(0);
  expect(told()).toHaveLength(1);
  expect(notices()).toEqual([]);
});

test("after --detach the next client that learns of the end runs it, once", async () => {
  await work.write("jobs.sh", `${gated("a")}\n`);
  const args = await onHost("jobs.sh");
  const left = await execute(...args, "--detach", "--notify", telling());
  expect(left.code, left.stderr).toBe(0);
  expect(left.stderr).toMatch(/^the command of --notify runs when .*: setsid sshoal wait &$/m);
  await began("a");
  const [kept = ""] = notices();
  expect(statSync(kept).mode & 0o777).toBe(0o600);
  expect((await sshoal("status")).code).toBe(0);
  expect(told()).toEqual([]);
  await open("a");
  expect((await sshoal("attach")).code).toBe(0);
  expect(told()).toEqual([expect.stringMatching(/^end succeeded jobs\.sh: 1 succeeded of 1 in /)]);
  expect(notices()).toEqual([]);
  await sshoal("status");
  await sshoal("wait");
  await execute(...args);
  expect(told()).toHaveLength(1);
});

test.each([[["wait"]], [["status"]], [["status", "--all"]]])("%j learns of the end, too", async (words) => {
  await work.write("jobs.sh", `${gated("a")}\n`);
  const args = await onHost("jobs.sh");
  expect((await execute(...args, "--detach", "--notify", telling())).code).toBe(0);
  await began("a");
  await open("a");
  await until("nothing runs there any more", () => host.pids().length === 0);
  const options = {
    program: "sshoal" as const,
    cwd: words.includes("--all") ? "/" : work.dir,
    home: home.dir,
  };
  // Several at the same time: one of them gets it.
  const ends = await Promise.all([1, 2, 3].map(() => runCommand(words, options)));
  expect(ends.map(({ code }) => code)).toEqual([0, 0, 0]);
  expect(told()).toHaveLength(1);
  await execute(...args);
  expect(told()).toHaveLength(1);
});

test("a client that is killed before the end leaves it to the next; one that is killed while it runs, to none", async () => {
  await work.write("jobs.sh", `${gated("a")}\n`);
  const args = await onHost("jobs.sh");
  const first = follow(...args, "--notify", `${telling()}; ${waitFor(gate.path("let-it-end"))}`);
  await began("a");
  first.child.kill("SIGKILL");
  await first.ended;
  await open("a");
  const second = spawnCommand(["attach"], { program: "sshoal", ...here() });
  await until("the command runs", () => told().length === 1);
  second.child.kill("SIGKILL");
  await second.ended;
  await gate.write("let-it-end", "");
  await execute(...args);
  await sshoal("status");
  expect(told()).toHaveLength(1);
});

test("the command, which may hold a secret, is in no record, event or list of processes", async () => {
  await work.write("jobs.sh", `${gated("a")}\n`);
  const client = follow("jobs.sh", ...LIGHT_NO_GPU, "--json", "--notify", telling());
  await began("a");
  expect(commandOf(client.child.pid ?? 0)).toMatch(/jobs\.sh/);
  expect(commandOf(client.child.pid ?? 0)).not.toContain("TOPSECRET");
  await open("a");
  const { code, stdout, stderr } = await client.ended;
  expect(code).toBe(0);
  expect(told()).toHaveLength(1);
  expect(stdout + stderr).not.toContain("TOPSECRET");
  const files = [work.dir, home.dir].flatMap((dir) =>
    entriesBelow(dir).flatMap((entry) => (entry.isFile() ? [`${entry.parentPath}/${entry.name}`] : [])),
  );
  expect(files.length).toBeGreaterThan(2);
  expect(files.filter((file) => readFileSync(file).includes("TOPSECRET"))).toEqual([]);
});

test("a command that fails is one warning, and changes no exit code", async () => {
  await work.write("jobs.sh", "true\n");
  const { code, stderr } = await execute("jobs.sh", ...LIGHT_NO_GPU, "--notify", "echo no route >&2; exit 7");
  expect(code).toBe(0);
  expect(stderr).toMatch(
    /^WARNING: the command of --notify failed: exit code 7; what it printed is in ~\/\.local\/state\/\S+\n$/m,
  );
  const [file = ""] = notices();
  expect(readFileSync(file, "utf8")).toBe("no route\n");
});

test("Ctrl-C ends a command that does not", async () => {
  await work.write("jobs.sh", "true\n");
  const client = follow("jobs.sh", ...LIGHT_NO_GPU, "--notify", `${telling()}; sleep 1000`);
  await until("the command runs", () => told().length === 1);
  client.child.kill("SIGINT");
  const { code, stderr } = await client.ended;
  expect(code).toBe(0);
  expect(stderr).toContain("the command of --notify failed: it was interrupted");
});

test("the batch's command, typed again while it is followed, changes what the follower runs", async () => {
  await work.write("jobs.sh", `${gated("a")}\n`);
  const args = await onHost("jobs.sh");
  const client = follow(...args);
  await began("a");
  expect((await execute(...args, "--detach", "--notify", telling())).code).toBe(0);
  await open("a");
  expect((await client.ended).code).toBe(0);
  expect(told()).toHaveLength(1);
});

test("sshoal stop ends a batch as well", async () => {
  await work.write("jobs.sh", `${gated("a")}\ntrue\n`);
  const args = await onHost("jobs.sh");
  expect((await execute(...args, "--detach", "--notify", telling())).code).toBe(0);
  await began("a");
  expect((await sshoal("stop", "jobs.sh")).code).toBe(0);
  expect(told()).toEqual([expect.stringMatching(/^end stopped jobs\.sh: 0 succeeded, 2 stopped of 2 in /)]);
});

test("a state directory that cannot be written: this client runs it, and warns that no other will", async () => {
  await home.write(".local/state", "no directory");
  await work.write("jobs.sh", "true\n");
  expect(await execute("jobs.sh", ...LIGHT_NO_GPU, "--notify", telling())).toMatchObject({ code: 0 });
  expect(told()).toHaveLength(1);
  await work.write("long.sh", `${gated("a")}\n`);
  const args = await onHost("long.sh");
  const left = await execute(...args, "--detach", "--notify", telling());
  expect(left.code).toBe(0);
  expect(left.stderr).toContain("WARNING: the command of --notify cannot be kept");
  await open("a");
  await execute(...args);
  expect(told()).toHaveLength(1);
});

test("mistakes are reported before anything runs", async () => {
  await work.write("jobs.sh", "true\n");
  for (const [words, message] of [
    [["--notify-on", "failure"], "--notify-on needs a command"],
    [["--notify", "  "], "--notify takes a command"],
    [["--notify", "x", "--notify-on", "never"], "Allowed choices are end, failure"],
  ] as const) {
    const { code, stderr } = await execute("jobs.sh", ...LIGHT_NO_GPU, ...words);
    expect(code).toBe(2);
    expect(stderr).toContain(message);
  }
  expect(existsSync(work.path("job_results"))).toBe(false);
});
