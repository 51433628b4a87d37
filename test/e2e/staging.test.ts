// How much is sent when the working directory is copied, and what happens if files change.

import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { appendFile, link, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import { scanTree } from "../../src/remote/tree/tree.js";
import { LIGHT_NO_GPU, listTrees } from "../rig/batch.js";
import { runCommand, spawnCommand } from "../rig/command.js";
import { type Relay, startRelay } from "../rig/relay.js";
import { startSshd, type TestHost } from "../rig/sshd.js";
import { until } from "../rig/until.js";
import { makeWorkspace, type Workspace } from "../rig/workspace.js";

let host: TestHost;
let work: Workspace;
let relay: Relay | undefined;

beforeAll(async () => {
  host = await startSshd({ name: "box" });
});
beforeEach(async () => {
  work = await makeWorkspace();
});
afterEach(async () => {
  await relay?.stop();
  await work.remove();
});
afterAll(() => host?.stop());

/** Runs `job` and resolves with the bytes that went to the machine. */
async function sentBy(job: string, options: { bytesPerSecond?: number } = {}): Promise<number> {
  await relay?.stop();
  relay = await startRelay(host.port, options);
  await work.write("jobs.sh", `${job}\n`);
  const file = await host.machineFile("", relay);
  const args = ["jobs.sh", "--machines", file, "--rerun", "all", ...LIGHT_NO_GPU];
  const result = await runCommand(args, { cwd: work.dir });
  expect(result.code, result.stdout + result.stderr).toBe(0);
  return relay.bytes();
}

test("nothing if nothing changed, and after an edit only the edit", async () => {
  // For everything besides the tree.
  const few = 2_000_000;
  for (let n = 0; n < 8; n++) await work.write(`data/${n}`, randomBytes(1_000_000));
  const job = "cat data/* | sha256sum";
  expect(await sentBy(job)).toBeGreaterThan(8_000_000);
  expect(await sentBy(job)).toBeLessThan(few);
  const before = await work.read("job_results/jobs.sh.1.out");
  await work.write("data/7", randomBytes(1_000_000));
  const edited = await sentBy(job);
  expect(edited).toBeGreaterThan(1_000_000);
  expect(edited).toBeLessThan(1_000_000 + few);
  expect(await work.read("job_results/jobs.sh.1.out")).not.toBe(before);
});

test("text is compressed if the connection is slow", async () => {
  const bytes = 20_000_000;
  await work.write("log", "epoch 1 of 10, loss 0.123\n".repeat(bytes / 26));
  const job = "wc -c <log";
  expect(await sentBy(job, { bytesPerSecond: 5e6 })).toBeLessThan(bytes / 3);
  expect((await work.read("job_results/jobs.sh.1.out")).trim()).toBe(String(26 * Math.floor(bytes / 26)));
});

test.each([
  ["a little, which may be sent before the machine's room is known", 1000],
  ["much, which is sent later", 3_000_000],
])("it is reported once the machine gets jobs: %s", async (_, bytes) => {
  await work.write("jobs.sh", "true\n");
  await work.write("data", randomBytes(bytes));
  const args = ["jobs.sh", "--machines", await host.machineFile(), "--json", ...LIGHT_NO_GPU];
  const { code, stdout } = await runCommand(args, { cwd: work.dir });
  expect(code).toBe(0);
  const kinds = stdout
    .trimEnd()
    .split("\n")
    .map((line) => (JSON.parse(line) as { kind: string }).kind);
  const told = ["machine-ready", "jobs-assigned", "tree-read", "staging", "staged", "jobs-handed-over"];
  expect([...new Set(kinds.filter((kind) => told.includes(kind)))]).toEqual(told);
});

test("files that change while they are sent stop no machine: grown, rewritten, shorter, removed", async () => {
  const slow = await startSshd({ name: "slow" });
  onTestFinished(() => slow.stop());
  // The first machine to unpack waits, so that files at the end of the archive are read after they have changed.
  const [begun, go] = [join(slow.dir, "begun"), join(slow.dir, "go")];
  const wait = `case $1 in -x*) touch ${begun}; until [ -e ${go} ]; do sleep 0.02; done ;; esac`;
  await writeFile(join(slow.binDir, "tar"), `#!/bin/sh\n${wait}\nexec /bin/tar "$@"\n`, { mode: 0o755 });
  await work.write("data", randomBytes(30_000_000));
  for (const name of ["grown", "rewritten", "shorter", "removed"])
    await work.write(`z/${name}`, "as it was\n");
  await work.write("jobs.sh", "cat z/grown z/rewritten z/shorter; ls z\n");
  const args = ["jobs.sh", "--machines", await slow.machineFile(), ...LIGHT_NO_GPU];
  const client = spawnCommand(args, { cwd: work.dir });
  await until("it travels", () => existsSync(begun), 60_000);
  await appendFile(work.path("z/grown"), "and more\n");
  await writeFile(work.path("z/rewritten"), "as it is now, and longer\n");
  await writeFile(work.path("z/shorter"), "short\n");
  await rm(work.path("z/removed"));
  await writeFile(go, "");
  const { code, stdout, stderr } = await client.ended;
  expect(code, stdout + stderr).toBe(0);
  expect(await work.read("job_results/jobs.sh.1.out")).toBe(
    "as it was\nas it is now, and longer\nshort\ngrown\nrewritten\nshorter\n",
  );
  for (const name of ["rewritten", "shorter"])
    expect(stderr).toContain(`WARNING: z/${name} changed while it was copied: jobs get it as it is now\n`);
  expect(stderr).toContain("WARNING: z/removed is left out: it was removed, or cannot be read any more\n");
  expect(stderr).not.toContain("z/grown");
  // An interrupted transfer leaves no tree; the tree in place is named by its content.
  const trees = listTrees(join(slow.homeDir, ".sshoal"));
  const standing = await Promise.all(
    trees.map((name) => scanTree(join(slow.homeDir, ".sshoal/trees", name), ["."])),
  );
  expect(standing.map(({ hash }) => hash)).toEqual(trees);
  expect(trees).toHaveLength(1);
});

test("a queue inside the directory is never sent, under any of its names, and all its jobs run", async () => {
  const jobs = 40;
  await work.write("real/q", "");
  await symlink("real/q", work.path("q"));
  await link(work.path("real/q"), work.path("also-q"));
  await work.write("data", randomBytes(3_000_000));
  const append = (from: number, to: number) =>
    appendFile(
      work.path("real/q"),
      Array.from(
        { length: to - from },
        (_, at) => `find . -name '*q' -o -name data; echo ${from + at}\n`,
      ).join(""),
    );
  await append(0, 1);
  const args = ["--follow", "q", "--machines", await host.machineFile("max_jobs: 2"), ...LIGHT_NO_GPU];
  const client = spawnCommand(args, { cwd: work.dir });
  for (let at = 1; at < jobs; at++) await append(at, at + 1);
  await client.until(({ stdout }) => (stdout().match(/^finished: /gm) ?? []).length === jobs);
  client.child.kill("SIGINT");
  const { stdout, stderr } = await client.ended;
  expect(stdout + stderr).not.toMatch(/left out: it|is left out|changed while/);
  const outputs = await Promise.all(
    Array.from({ length: jobs }, (_, at) => work.read(`job_results/q.${at + 1}.out`)),
  );
  expect(outputs).toEqual(Array.from({ length: jobs }, (_, at) => `./data\n${at}\n`));
});
