// `sshoal clean`: leftovers on machines are shown, and removed only if nothing can need them.

import { existsSync } from "node:fs";
import { mkdir, utimes } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { giveToRemote, isRoot } from "../rig/account.js";
import { EMPTY_SPOOL, LIGHT_NO_GPU, listSpool, listTrees, waitFor } from "../rig/batch.js";
import { runCommand } from "../rig/command.js";
import { startSshd, type TestHost } from "../rig/sshd.js";
import { until } from "../rig/until.js";
import { makeWorkspace, type Workspace } from "../rig/workspace.js";

let host: TestHost;
let work: Workspace;
let seen: Workspace;
let root: string;

beforeAll(async () => {
  host = await startSshd({ name: "one" });
  root = join(host.homeDir, ".sshoal");
});
beforeEach(async () => {
  [work, seen] = await Promise.all([makeWorkspace(), makeWorkspace()]);
});
afterEach(() => Promise.all([work.remove(), seen.remove()]));
afterAll(() => host?.stop());

const clean = (...args: string[]) => runCommand(["clean", ...args], { program: "sshoal", cwd: work.dir });

/** As if its trees had not been used for a day. */
async function ageTrees(dir = root): Promise<void> {
  const yesterday = Date.now() / 1000 - 86_400;
  for (const name of listTrees(dir)) await utimes(join(dir, "trees", name), yesterday, yesterday);
}

test("live or uncollected batches stay, unless named; a live one always stays", async () => {
  await work.write("jobs.sh", `echo x > ${seen.dir}/began; ${waitFor(seen.path("go"))}\ntrue\n`);
  const args = ["jobs.sh", "--machines", await host.machineFile("max_jobs: 1"), ...LIGHT_NO_GPU];
  expect((await runCommand([...args, "--detach"], { cwd: work.dir })).code).toBe(0);
  await until("it has begun", () => seen.read("began").catch(() => null));
  await ageTrees();

  const alive = await clean();
  expect(alive).toMatchObject({ code: 0, stderr: "" });
  const [machine, batch, tree, total] = alive.stdout.split("\n");
  expect(machine).toBe("one.yaml");
  expect(batch).toMatch(
    /^ {2}batch {2}jobs\.sh-[0-9a-f]{8} +[\d.]+ k?B {2}kept: in use, 1 running, 1 waiting$/,
  );
  expect(tree).toMatch(
    /^ {2}tree {3}[0-9a-f]{12} +[\d.]+ k?B {2}kept: used by jobs\.sh-[0-9a-f]{8}, 1d00h old$/,
  );
  expect(total).toMatch(/^total: [\d.]+ k?B; nothing to remove$/);
  const name = /jobs\.sh-[0-9a-f]{8}/.exec(alive.stdout)?.[0] ?? "";
  const spool = join(root, "batches", `${name}@${hostname()}`);

  const refused = await clean("jobs.sh");
  expect(refused.code).toBe(2);
  expect(refused.stderr).toBe(
    `error: ${name} stays on one.yaml: in use, 1 running, 1 waiting\ntry: sshoal stop ${name}\n`,
  );
  expect(existsSync(spool)).toBe(true);

  await seen.write("go", "");
  await until("nothing runs there any more", () => host.pids().length === 0);
  const uncollected = await clean("--machines", await host.machineFile());
  expect(uncollected.stdout).toContain("kept: 2 to collect");
  const dry = await clean(name, "--dry-run");
  expect(dry.stdout).toMatch(/batch {2}jobs\.sh-\w+ +[\d.]+ k?B {2}would be removed\n/);
  expect(dry.stdout).toMatch(/\ntotal: ([\d.]+ k?B); would remove \1\n$/);
  expect(existsSync(spool)).toBe(true);

  const removed = await clean(name);
  expect(removed.stdout).toMatch(/batch {2}jobs\.sh-\w+ +[\d.]+ k?B {2}removed\n/);
  expect(removed.stdout).toMatch(/tree {3}\w+ +[\d.]+ k?B {2}removed, 1d00h old\n/);
  expect(removed.code).toBe(0);
  expect(listSpool(root)).toEqual(EMPTY_SPOOL);
  expect(listTrees(root)).toEqual([]);
  const again = await clean(name);
  expect(again.stdout).toContain("one.yaml\n  nothing is left on it\ntotal: 0 B; nothing to remove\n");
  expect(again.stderr).toContain(`error: no batch ${name} is left on one.yaml\n`);
  expect(again.code).toBe(2);
});

test("a finished batch leaves its tree for a while; other leftovers are removed at once", async () => {
  await work.write("jobs.sh", "true\n");
  const scratch = join(host.dir, "big disk");
  const file = await host.machineFile(`max_jobs: 1\nscratch: ${scratch}`);
  expect((await runCommand(["jobs.sh", "--machines", file, ...LIGHT_NO_GPU], { cwd: work.dir })).code).toBe(
    0,
  );
  const there = join(scratch, ".sshoal");
  const empty = join(there, "batches", `old.sh-00000000@${hostname()}`);
  const odd = join(there, "batches", `$(touch owned)-00000000@${hostname()}`);
  const foreign = join(there, "batches", `root.sh-00000000@${hostname()}`);
  for (const dir of [empty, join(empty, "jobs"), odd, ...(isRoot ? [foreign] : [])]) {
    await mkdir(dir);
    if (dir !== foreign) giveToRemote(dir);
  }
  const off = await work.write("off.yaml", `ip: 127.0.0.1\nport: 1\nssh_key_path: ${host.keyPath}\n`);

  const first = await clean("--machines", file, off);
  expect(first.code).toBe(0);
  expect(first.stdout).toMatch(/batch {2}old\.sh-00000000 +[\d.]+ k?B {2}removed\n/);
  if (isRoot) {
    expect(first.stdout).toMatch(/batch {2}root\.sh-00000000 +[\d.]+ k?B {2}could not be removed\n/);
    expect(first.stderr).toContain(
      `no permission to remove all files that jobs left: sudo rm -r '${foreign}'\n`,
    );
  }
  expect(first.stdout).toMatch(/tree {3}\w{12} +[\d.]+ k?B {2}kept: a new batch may need it, \d+s old\n/);
  expect(first.stdout).toMatch(/\noff\.yaml\n {2}127\.0\.0\.1:1: /);
  for (const line of first.stdout.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
  expect([existsSync(empty), existsSync(odd), listTrees(there).length]).toEqual([false, true, 1]);

  await ageTrees(there);
  // The records of this directory have the machines of its batches.
  const second = await clean();
  expect(second.stdout).toMatch(/tree {3}\w{12} +[\d.]+ k?B {2}removed, 1d00h old\n/);
  expect(listTrees(there)).toEqual([]);
});

test("without records and machines, this computer is examined; if no machine answers, that is an error", async () => {
  const home = work.path("home");
  await mkdir(join(home, `.sshoal/batches/old.sh-00000000@${hostname()}`), { recursive: true });
  const here = await runCommand(["clean"], { program: "sshoal", cwd: work.dir, home });
  expect(here.stdout).toMatch(/^localhost\n {2}batch {2}old\.sh-00000000 +[\d.]+ k?B {2}removed\ntotal: /);
  const off = await work.write("off.yaml", `ip: 127.0.0.1\nport: 1\nssh_key_path: ${host.keyPath}\n`);
  expect((await clean("--machines", off)).code).toBe(3);
});
