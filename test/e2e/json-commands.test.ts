// `--json` on every command: each line is one object that docs/json-events.md describes.

import { appendFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { type JsonEvent, LIGHT_NO_GPU, parseEvents, waitFor } from "../rig/batch.js";
import { type CommandOptions, runCommand, spawnCommand } from "../rig/command.js";
import { makeHome } from "../rig/own-home.js";
import { makeKey, startSshd, type TestHost } from "../rig/sshd.js";
import { runOnTerminal } from "../rig/terminal.js";
import { until } from "../rig/until.js";
import { makeWorkspace, type Workspace } from "../rig/workspace.js";

const DOCUMENT = readFileSync(new URL("../../docs/json-events.md", import.meta.url), "utf8");

let host: TestHost;
let work: Workspace;
let home: Workspace;

beforeAll(async () => {
  host = await startSshd({ name: "box" });
});
beforeEach(async () => {
  [work, home] = await Promise.all([makeWorkspace(), makeHome()]);
});
afterEach(() => Promise.all([work.remove(), home.remove()]));
afterAll(() => host?.stop());

interface Printed {
  readonly code: number | null;
  readonly stderr: string;
  readonly objects: JsonEvent[];
  readonly kinds: string[];
}

/** Fails when a line is not an object of the document. */
async function ask(
  program: NonNullable<CommandOptions["program"]>,
  args: readonly string[],
  stdin = "",
): Promise<Printed> {
  const { code, stdout, stderr } = await runCommand([...args, "--json"], {
    program,
    cwd: work.dir,
    home: home.dir,
    stdin,
  });
  expect(stdout).not.toMatch(/[\x00-\x09\x0b-\x1f\x7f-\x9f]/);
  const objects = parseEvents(stdout);
  for (const object of objects) expectDocumented(object);
  return { code, stderr, objects, kinds: objects.map(({ kind }) => kind) };
}

function expectDocumented(object: JsonEvent): void {
  expect(object.v, JSON.stringify(object)).toBeGreaterThan(0);
  expect(DOCUMENT).toMatch(new RegExp(`"kind":"${object.kind}"|\`${object.kind}\``));
  for (const field of Object.keys(object)) expect(DOCUMENT).toMatch(new RegExp(`"${field}":|\`${field}\``));
}

const sshoal = (...args: string[]) => ask("sshoal", args);

test("on this machine: from the probe to cleaning up", async () => {
  await work.write("jobs.sh", "echo fine; echo 'sshoal: acc=0.5'\necho oops >&2; exit 3\n");
  const run = ["jobs.sh", ...LIGHT_NO_GPU];
  expect(await sshoal("probe", ...LIGHT_NO_GPU)).toMatchObject({ code: 0, kinds: ["probed"] });
  expect(await sshoal("doctor", ...LIGHT_NO_GPU)).toMatchObject({ kinds: ["machine-checked"] });
  const dry = await ask("execute-batch", [...run, "--dry-run"]);
  expect(dry).toMatchObject({ code: 0, kinds: ["machine-ready", "would-start", "would-start"] });

  const first = await ask("execute-batch", run);
  expect(first).toMatchObject({ code: 1, stderr: "" });
  expect([first.kinds[0], first.kinds.at(-1)]).toEqual(["run-started", "run-ended"]);
  const { batch } = first.objects[0] as JsonEvent;
  const about = { batch, job: 2, name: "jobs.sh.2" };

  const status = await sshoal("status");
  expect(status.objects).toMatchObject([
    { kind: "job-status", state: "succeeded" },
    { kind: "job-status", ...about, state: "failed" },
  ]);
  const results = await sshoal("results");
  expect(results.objects).toMatchObject([
    { kind: "job-result", metrics: { acc: 0.5 } },
    { kind: "job-result", ...about },
  ]);
  expect((await sshoal("logs", "1-2")).objects).toEqual([
    { v: 2, kind: "log-line", batch, job: 1, name: "jobs.sh.1", stream: "out", text: "fine" },
    { v: 2, kind: "log-line", batch, job: 1, name: "jobs.sh.1", stream: "out", text: "sshoal: acc=0.5" },
    { v: 2, kind: "log-line", ...about, stream: "err", text: "oops" },
  ]);
  expect((await sshoal("logs", "1", "--tail", "1", "-f")).objects).toMatchObject([
    { kind: "log-line", text: "sshoal: acc=0.5" },
  ]);

  const retried = await sshoal("retry", "--failed");
  expect(retried.code).toBe(1);
  expect(retried.objects.find(({ kind }) => kind === "job-ended")).toMatchObject({ job: 2, run: 2 });
  expect(await sshoal("attach")).toMatchObject({ code: 2, kinds: ["error"] });
  expect(await sshoal("clean")).toMatchObject({ code: 0, stderr: "" });
});

test("commands of a sweep, with their parameters; with --run, events", async () => {
  const words = ["echo {lr}", "-p", "lr", "0.1", "a b"];
  const objects = [
    { v: 2, kind: "sweep-command", job: 1, command: "echo 0.1", parameters: { lr: "0.1" } },
    { v: 2, kind: "sweep-command", job: 2, command: "echo 'a b'", parameters: { lr: "a b" } },
  ];
  expect(await sshoal("sweep", ...words)).toMatchObject({ code: 0, objects });
  const search = await ask("simple-hypersearch", words);
  expect(search.objects.map(({ command }) => command).sort()).toEqual(["echo 0.1", "echo a b"]);
  const run = await sshoal("sweep", ...words, "--run", ...LIGHT_NO_GPU);
  expect(run.code).toBe(0);
  expect(run.objects[0]).toMatchObject({ kind: "run-started", jobs: [{ parameters: { lr: "0.1" } }, {}] });
});

test("execute_remote and simple_gpu_scheduler: events, with what the commands print", async () => {
  const machine = await host.machineFile();
  const remote = await ask("execute-remote", ["echo out; echo err >&2; exit 7", "--machine", machine]);
  expect(remote.code).toBe(7);
  const output = remote.objects.filter(({ kind }) => kind === "job-output");
  expect(output.map(({ stream, text }) => `${stream} ${text}`).sort()).toEqual(["err err\n", "out out\n"]);
  expect(remote.objects.find(({ kind }) => kind === "job-ended")).toMatchObject({ stderrTail: "err\n" });

  const scheduler = await ask("simple-gpu-scheduler", ["--gpus", "0"], "echo $CUDA_VISIBLE_DEVICES\n");
  expect(scheduler.code).toBe(0);
  expect(scheduler.objects.find(({ kind }) => kind === "job-output")).toMatchObject({ text: "0\n" });
});

test("a batch over ssh that was left: its output, draining, stopping, what is on the machine, and attaching", async () => {
  const go = work.path("go");
  await work.write("jobs.sh", `echo begun; ${waitFor(go)}\necho never\n`);
  const machine = await host.machineFile("max_jobs: 1");
  const run = await ask("execute-batch", ["jobs.sh", "--machines", machine, ...LIGHT_NO_GPU, "--detach"]);
  expect(run.code).toBe(0);
  const { batch } = run.objects[0] as JsonEvent;
  await until("it runs", async () => (await sshoal("logs", "1")).objects[0]?.text === "begun");

  const drained = await sshoal("drain", "box");
  expect(drained.objects).toEqual([{ v: 2, kind: "machine-draining", machine: "box.yaml", batch }]);
  const opened = await sshoal("undrain", "box");
  expect(opened.objects).toEqual([{ v: 2, kind: "machine-opened", machine: "box.yaml", batch }]);
  const left = await sshoal("clean", "--dry-run");
  expect(left.objects).toMatchObject([
    { kind: "left-over", machine: "box.yaml", what: "batch", name: batch, state: "kept" },
    { kind: "left-over", machine: "box.yaml", what: "tree", state: "kept" },
  ]);
  expect((await sshoal("stop", "2")).objects).toEqual([
    { v: 2, kind: "job-stopped", job: 2, name: "jobs.sh.2", machine: null, state: "stopped" },
  ]);
  await work.write("go", "");
  const attached = await sshoal("attach");
  expect(attached.code).toBe(1);
  expect(attached.objects.at(-1)).toMatchObject({ kind: "run-ended", counts: { succeeded: 1, stopped: 1 } });
});

test("a machine that cannot be reached is an object of clean, and the exit code is 3", async () => {
  const file = await work.write("away.yaml", "ip: 127.0.0.1\nport: 1\nusername: me\n");
  const cleaned = await sshoal("clean", "--machines", file);
  expect(cleaned).toMatchObject({ code: 3, objects: [{ kind: "machine-failed", machine: "away.yaml" }] });
});

test("logs -f of several jobs: each line is whole, and whose it is", async () => {
  const go = work.path("go");
  const command = (name: string) => `printf ${name}1; ${waitFor(go)}; printf 'more\\n${name}2'`;
  await work.write("jobs.sh", `${command("a")}\n${command("b")}\n`);
  const client = spawnCommand(["jobs.sh", ...LIGHT_NO_GPU], { cwd: work.dir, home: home.dir });
  await client.until(({ stdout }) => stdout().includes("started: jobs.sh.2"));
  const following = sshoal("logs", "-f", "1-2");
  await work.write("go", "");
  const { objects, code } = await following;
  expect(code).toBe(0);
  expect(objects.map(({ job, text }) => `${job} ${text}`).sort()).toEqual([
    "1 a1more",
    "1 a2",
    "2 b1more",
    "2 b2",
  ]);
  expect((await client.ended).code).toBe(0);
});

test("on a terminal, too, nothing is asked: a key with a passphrase cannot be used", async () => {
  makeKey(work.path("locked"), { passphrase: "secret" });
  appendFileSync(join(host.dir, "authorized_keys"), readFileSync(work.path("locked.pub")));
  const lines = [`username: ${host.username}`, "ip: 127.0.0.1", `port: ${host.port}`];
  const file = await work.write(
    "box.yaml",
    `${[...lines, `ssh_key_path: ${work.path("locked")}`].join("\n")}\n`,
  );
  const terminal = runOnTerminal(["probe", "--json", "--machines", file], {
    program: "sshoal",
    cwd: work.dir,
    home: home.dir,
  });
  expect(await terminal.ended).toBe(3);
  expect(terminal.shown()).toContain('"kind":"failed"');
  expect(terminal.shown()).toContain("has a passphrase");
  expect(terminal.shown()).not.toContain("Enter passphrase");
});
