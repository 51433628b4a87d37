// `sshoal status --all`: every batch of this user on this computer, whichever directory it was started in.

import { chmodSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { LIGHT_NO_GPU, parseEvents, waitFor } from "../rig/batch.js";
import { runCommand, spawnCommand } from "../rig/command.js";
import { startRelay } from "../rig/relay.js";
import { startSshd, type TestHost } from "../rig/sshd.js";
import { until } from "../rig/until.js";
import { makeWorkspace, type Workspace } from "../rig/workspace.js";

let host: TestHost;
let home: Workspace;
let a: Workspace;
let b: Workspace;

beforeAll(async () => {
  host = await startSshd({ name: "one" });
});
beforeEach(async () => {
  [home, a, b] = await Promise.all([makeWorkspace(), makeWorkspace(), makeWorkspace()]);
});
afterEach(() => Promise.all([home, a, b].map((each) => each.remove())));
afterAll(() => host?.stop());

const here = () => ({ home: home.dir });
const execute = (work: Workspace, ...args: string[]) => runCommand(args, { cwd: work.dir, ...here() });

async function statusAll(...args: string[]) {
  const options = { program: "sshoal" as const, cwd: "/", ...here() };
  const result = await runCommand(["status", "--all", ...args], options);
  return { ...result, lines: result.stdout.split("\n").slice(0, -1) };
}

async function onHost(): Promise<string[]> {
  return ["--machines", await host.machineFile("max_jobs: 1"), ...LIGHT_NO_GPU];
}

test("batches of two directories, one of them followed and one detached; the running ones come first", async () => {
  const nothing = await statusAll();
  expect(nothing).toMatchObject({ code: 0, stdout: "" });
  expect(nothing.stderr).toContain("no batch of yours is known here");

  await a.write("done.sh", "true\nfalse\n");
  expect((await execute(a, "done.sh", ...LIGHT_NO_GPU)).code).toBe(1);
  await a.write("long.sh", `${waitFor(b.path("go-a"))}\n`);
  const client = spawnCommand(["long.sh", ...LIGHT_NO_GPU], { cwd: a.dir, ...here() });
  await client.until(({ stdout }) => stdout().includes("started: long.sh.1"));
  await b.write("away.sh", `${waitFor(b.path("go-b"))}\ntrue\n`);
  const machine = await onHost();
  expect((await execute(b, "away.sh", ...machine, "--detach")).code).toBe(0);

  const { code, lines, stderr } = await statusAll();
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(lines).toHaveLength(4);
  expect(lines[0]).toMatch(/^STATE +BATCH +TIME +DIRECTORY +JOBS$/);
  expect(lines.slice(1, 3).sort()).toEqual([
    expect.stringMatching(`^running +away\\.sh +\\d+s +${b.dir} +1 running, 1 waiting$`),
    expect.stringMatching(`^running +long\\.sh +\\d+s +${a.dir} +1 running$`),
  ]);
  expect(lines[3]).toMatch(new RegExp(`^failed +done\\.sh +\\d+s +${a.dir} +1 succeeded, 1 failed$`));

  // What happens now, no client sees: only the machine knows it.
  await b.write("go-b", "");
  await until("nothing runs there any more", () => host.pids().length === 0);
  const known = parseEvents((await statusAll("--json")).stdout);
  expect(known.map(({ stem, state }) => [stem, state])).toEqual([
    ["long.sh", "running"],
    ["away.sh", "succeeded"],
    ["done.sh", "failed"],
  ]);
  expect(known[0]).toMatchObject({ v: 2, directory: a.dir, follower: `process ${client.child.pid}` });
  expect(known[1]).toMatchObject({ directory: b.dir, toCollect: 2, follower: null, unreached: [] });

  await b.write("go-a", "");
  expect((await client.ended).code).toBe(0);
  rmSync(b.path("job_results"), { recursive: true });
  const left = parseEvents((await statusAll("--json")).stdout);
  expect(left.map(({ stem }) => stem)).toEqual(["long.sh", "done.sh"]);
  await execute(b, "away.sh", ...machine);
});

test("a batch whose machine cannot be asked is shown as last seen, and the machine is named", async () => {
  const relay = await startRelay(host.port);
  const address = `username: ${host.username}\nip: 127.0.0.1\nport: ${relay.port}`;
  await a.write("far.yaml", `${address}\nssh_key_path: ${host.keyPath}\nmax_jobs: 1\n`);
  await a.write("jobs.sh", `${waitFor(b.path("go"))}\n`);
  const args = ["jobs.sh", "--machines", "far.yaml", ...LIGHT_NO_GPU];
  expect((await execute(a, ...args, "--detach")).code).toBe(0);
  relay.refuse();
  const { code, lines, stderr } = await statusAll();
  expect(code).toBe(0);
  expect(lines[1]).toMatch(/^running +jobs\.sh .* last seen \d+s ago: 1 running$/);
  expect(stderr).toMatch(/^WARNING: far\.yaml cannot be asked: /);
  const [batch] = parseEvents((await statusAll("--json")).stdout);
  expect(batch?.unreached).toMatchObject([{ machine: "far.yaml" }]);
  expect(batch?.seenAt).toBeLessThan(Date.now());
  relay.accept();
  relay.pause();
  const silent = await statusAll();
  expect(silent.lines[1]).toMatch(/^running +jobs\.sh .* last seen \d+s ago: 1 running$/);
  expect(silent.stderr).toBe("WARNING: far.yaml cannot be asked: it did not answer in time\n");
  relay.resume();
  await b.write("go", "");
  expect((await execute(a, ...args)).code).toBe(0);
  await relay.stop();
});

test("a batch of an earlier version appears once a command runs in its directory; a damaged record hides no other", async () => {
  await a.write("jobs.sh", "true\n");
  expect((await execute(a, "jobs.sh", ...LIGHT_NO_GPU)).code).toBe(0);
  rmSync(home.path(".local"), { recursive: true });
  expect((await statusAll()).stdout).toBe("");
  await runCommand(["results"], { program: "sshoal", cwd: a.dir, ...here() });
  expect((await statusAll()).lines).toHaveLength(2);
  const [record = ""] = readdirSync(a.path("job_results/.sshoal")).filter((name) => name.endsWith(".jsonl"));
  const damaged = `${await a.read(`job_results/.sshoal/${record}`)}{"v":99,"kind":"run-started"}\n`;
  writeFileSync(a.path("job_results/.sshoal/newer.sh.jsonl"), damaged);
  const { code, lines } = await statusAll();
  expect(code).toBe(0);
  expect(lines).toHaveLength(3);
  expect(lines[2]).toMatch(/^unknown +newer\.sh .*jsonl:\d+: /);
});

test("a state directory that cannot be used fails no run, and is named where the list is asked for", async () => {
  await a.write("jobs.sh", "true\n");
  mkdirSync(home.path(".local/state"), { recursive: true });
  writeFileSync(home.path(".local/state/sshoal"), "");
  const ran = await execute(a, "jobs.sh", ...LIGHT_NO_GPU);
  expect(ran).toMatchObject({ code: 0, stderr: "" });
  rmSync(home.path(".local/state/sshoal"));
  mkdirSync(home.path(".local/state/sshoal"));
  chmodSync(home.path(".local/state/sshoal"), 0o777);
  expect((await execute(a, "jobs.sh", ...LIGHT_NO_GPU)).code).toBe(0);
  const { code, stderr } = await statusAll();
  expect(code).toBe(2);
  expect(stderr).toMatch(/^error: batches of other directories are not known: .*\ntry: /);
});

test("--all takes no batch", async () => {
  const { code, stderr } = await statusAll("jobs.sh");
  expect(code).toBe(2);
  expect(stderr).toBe("error: --all shows every batch, not one\ntry: sshoal status jobs.sh\n");
});
