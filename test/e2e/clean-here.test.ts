// `sshoal clean --here`: what is kept on this computer is shown, and only what is of no use, or was asked for, goes.

import { existsSync, readdirSync } from "node:fs";
import { mkdir, rm, symlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { listBelow, waitFor } from "../rig/batch.js";
import { type LiveCommand, runCommand } from "../rig/command.js";
import { endLiveCommands, startCommand } from "../rig/live-commands.js";
import { useOwnHome } from "../rig/own-home.js";
import { until } from "../rig/until.js";

const own = useOwnHome();
afterEach(() => {
  endLiveCommands();
});

/** Sockets of its own, too. */
const options = () => ({
  cwd: own.work.dir,
  home: own.home.dir,
  env: { XDG_RUNTIME_DIR: own.home.dir },
});
const ARGS = ["jobs.sh", "--no-gpu-required", "--memory-required", "1"];
const clean = (...args: string[]) =>
  runCommand(["clean", "--here", ...args], { ...options(), program: "sshoal" });
const sshoal = (...args: string[]) => runCommand(args, { ...options(), program: "sshoal" });
const results = () => readdirSync(own.work.path("job_results")).filter((name) => name !== ".sshoal");
const dirs = () => results().filter((name) => !/\.(out|err)$/.test(name));

async function run(...args: string[]): Promise<void> {
  const { code, stdout, stderr } = await runCommand([...ARGS, ...args], options());
  expect(code, stdout + stderr).toBe(0);
}

function start(...args: string[]): LiveCommand {
  return startCommand([...ARGS, ...args], options());
}

test("where nothing was run, nothing is kept, and nothing is made", async () => {
  expect(await clean()).toMatchObject({ code: 0, stdout: "nothing is kept here\n", stderr: "" });
  expect(readdirSync(own.work.dir)).toEqual([]);
});

test("earlier results go only by --max-old, and nothing else of a batch ever does", async () => {
  await own.work.write("jobs.sh", "echo one\necho two > $SSHOAL_RESULTS/two; exit 0\n");
  for (let n = 0; n < 4; n++) await run("--rerun", "all");
  const before = listBelow(own.work.path("job_results"));
  const shown = await clean();
  expect(shown).toMatchObject({ code: 0, stderr: "" });
  expect(shown.stdout).toMatch(/^job_results\n {2}results +jobs\.sh +2 +[\d.]+ kB {2}kept\n/);
  expect(shown.stdout).toMatch(
    /\n {2}earlier results +jobs\.sh +6 +[\d.]+ kB {2}kept: --max-old 0 removes them\n/,
  );
  expect(shown.stdout).toMatch(/\n {2}record +jobs\.sh +1 +[\d.]+ kB {2}kept: needed to resume\n/);
  expect(shown.stdout).toMatch(/\n {2}compiled code +1 +[\d.]+ [kM]B {2}kept, \d+s old\n/);
  expect(shown.stdout).toMatch(/\ntotal: [\d.]+ [kM]B; nothing to remove\n$/);
  for (const line of shown.stdout.split("\n")) expect(line.length).toBeLessThanOrEqual(80);

  const dry = await clean("--max-old", "1", "--dry-run");
  expect(dry.stdout).toMatch(/earlier results +jobs\.sh +4 +[\d.]+ kB {2}would be removed\n/);
  expect(listBelow(own.work.path("job_results"))).toEqual(before);

  const removed = await clean("--max-old", "1", "jobs.sh");
  expect(removed.stdout).toMatch(/earlier results +jobs\.sh +2 +[\d.]+ kB {2}kept\n/);
  expect(removed.stdout).toMatch(/earlier results +jobs\.sh +4 +[\d.]+ kB {2}removed\n/);
  expect(removed.stdout).not.toContain("compiled code");
  expect(dirs()).toEqual(["jobs.sh.1", "jobs.sh.1.old-3", "jobs.sh.2", "jobs.sh.2.old-3"]);
  expect(listBelow(own.work.path("job_results/.sshoal"))).toEqual(["incoming/", "jobs.sh.jsonl"]);
  expect(await own.work.read("job_results/jobs.sh.2/two")).toBe("two\n");

  const json = await clean("--max-old", "0", "--json");
  const rows = json.stdout.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line)]));
  expect(rows.find(({ what, end }) => what === "earlier results" && end === "removed")).toMatchObject({
    v: 1,
    kind: "kept-here",
    place: "job_results",
    batch: "jobs.sh",
    count: 2,
    names: ["jobs.sh.1.old-3", "jobs.sh.2.old-3"],
  });
  // What ran is still known, and the batch goes on from there.
  expect((await sshoal("status")).stdout).toContain("2 succeeded");
  const again = await runCommand(ARGS, options());
  expect([again.code, again.stdout.match(/started:/g)]).toEqual([0, null]);
  expect(dirs()).toEqual(["jobs.sh.1", "jobs.sh.2"]);
});

test("hostile and foreign names stay, and links are not followed", async () => {
  await own.work.write("jobs.sh", "true\n");
  for (let n = 0; n < 2; n++) await run("--rerun", "all");
  const outside = await own.work.write("precious/file", "mine");
  const foreign = ["mine.old-1", "-rf.old-1", "$(touch owned).old-1", "a\nb.old-1", "\u001b[2J.old-2"];
  for (const name of foreign) await own.work.write(`job_results/${name}/file`, "mine");
  await symlink(own.work.path("precious"), own.work.path("job_results/jobs.sh.1.old-0"));
  await symlink(own.work.path("precious"), own.work.path("job_results/link.old-1"));
  const { code, stdout } = await clean("--max-old", "0");
  expect(code).toBe(0);
  expect(stdout).toMatch(/\n {2}other files +6 +[\d.]+ kB {2}kept: no record tells of them\n/);
  expect(stdout).not.toMatch(/\u001b/);
  expect(dirs()).toEqual(["jobs.sh.1", "link.old-1", ...foreign].sort());
  expect([existsSync(outside), existsSync(own.work.path("owned"))]).toEqual([true, false]);
});

test("what killed clients left goes: archives, locks and sockets; old entries of the cache too", async () => {
  await own.work.write("jobs.sh", `${waitFor(own.work.path("go"))}\n`);
  const first = start();
  await first.until(({ stdout }) => stdout().includes("started:"));
  const sockets = own.home.path("sshoal");
  await until("it listens", () => existsSync(sockets) && readdirSync(sockets).length === 2);
  const followed = await clean();
  expect(followed.stdout).not.toMatch(/ (lock|half arrived) /);
  first.child.kill("SIGKILL");
  await first.ended;
  const [record = ""] = readdirSync(own.work.path("job_results/.sshoal")).filter((name) =>
    name.endsWith("jsonl"),
  );
  const [, batch = ""] = /"batch":"([^"]+)"/.exec(await own.work.read(`job_results/.sshoal/${record}`)) ?? [];
  for (const name of [batch, "gone.sh-00000000"])
    await own.work.write(`job_results/.sshoal/incoming/${name}/abc/work/part`, "x".repeat(50_000));
  const draft = await own.work.write("job_results/.sshoal/jobs.sh.lock.2147483646", "");
  await utimes(draft, 1000, 1000);
  const month = Date.now() / 1000 - 40 * 86_400;
  const build = own.home.path(".cache/sshoal/code/an-old-build");
  await writeFile(build, "x");
  await utimes(build, month, month);

  const dry = await clean("--dry-run");
  for (const what of ["half arrived +jobs.sh", "half arrived", "lock +jobs.sh", "lock", "compiled code"])
    expect(dry.stdout).toMatch(new RegExp(`\n  ${what} +1 .*would be removed`));
  // For other commands, and the API.
  expect(dry.stdout).toMatch(/\n {2}socket +2 .*would be removed/);
  const { stdout } = await clean();
  expect(stdout).toMatch(/ {2}half arrived +jobs\.sh +1 +[\d.]+ kB {2}removed, \d+s old\n/);
  expect(stdout).toMatch(/ {2}half arrived +1 +[\d.]+ kB {2}removed, \d+s old\n/);
  expect(stdout.match(/ {2}lock .* removed/g)).toHaveLength(2);
  // Killed clients of others may have left some elsewhere.
  expect(stdout).toMatch(new RegExp(`\n${sockets}\n  socket +2 +0 B  removed\n`));
  expect(stdout).toMatch(/\n {2}compiled code +1 +1 B {2}removed, 40d00h old\n/);
  expect(listBelow(own.work.path("job_results/.sshoal"))).toEqual(["incoming/", "jobs.sh.jsonl"]);
  expect(readdirSync(sockets)).toEqual([]);

  await own.work.write("go", "");
  await run();
  expect(dirs()).toEqual(["jobs.sh.1"]);
});

test("a batch that is followed or not over keeps its earlier results", async () => {
  await own.work.write("jobs.sh", `${waitFor(own.work.path("go"))}\n`);
  await own.work.write("go", "");
  for (let n = 0; n < 2; n++) await run("--rerun", "all");
  await rm(own.work.path("go"));
  const follower = start("--rerun", "all");
  await follower.until(({ stdout }) => stdout().includes("started:"));
  const followed = await clean("--max-old", "0");
  expect(followed.stdout).toContain(`kept: followed by process ${follower.child.pid}\n`);
  follower.child.kill("SIGTERM");
  await follower.ended;
  const open = await clean("--max-old", "0");
  expect(open.stdout).toContain("kept: the batch is not over\n");
  expect(dirs()).toEqual(["jobs.sh.1.old-1", "jobs.sh.1.old-2"]);
  await own.work.write("go", "");
  await run();
  await clean("--max-old", "0");
  expect(dirs()).toEqual(["jobs.sh.1"]);
});

test("what a job would resume from stays", async () => {
  await own.work.write("input", "x");
  await own.work.write("jobs.sh", `${waitFor(own.work.path("go"))}\necho state > checkpoint; exit 1\n`);
  await own.work.write("go", "");
  await own.work.write("one.yaml", "transport: local\nmax_jobs: 1\n");
  const args = [...ARGS, "--machines", "one.yaml", "--keep-dir", "--copy-forward", "input"];
  expect((await runCommand(args, options())).code).toBe(1);
  await rm(own.work.path("go"));
  const again = startCommand([...args, "--rerun", "all"], options());
  await until("both move aside", () => dirs().join() === "jobs.sh.1.old-1,jobs.sh.2.old-1");
  await again.until(({ stdout }) => stdout().includes("started: jobs.sh.1;"));
  expect((await sshoal("stop", "2")).code).toBe(0);
  await own.work.write("go", "");
  await again.ended;
  const { stdout } = await clean("--max-old", "0");
  expect(stdout).toMatch(/earlier results +jobs\.sh +1 +[\d.]+ kB {2}kept\n/);
  expect(dirs()).toEqual(["jobs.sh.1", "jobs.sh.2.old-1"]);
  expect(await own.work.read("job_results/jobs.sh.2.old-1/checkpoint")).toBe("state\n");
});

test("words that do not go together, and batches that are not here, are errors", async () => {
  await mkdir(join(own.work.dir, "job_results/.sshoal"), { recursive: true });
  const cases: [string[], string, string][] = [
    [["clean", "--here", "--machines", "gpu1"], "--here is about this computer", "sshoal clean --here"],
    [["clean", "--max-old", "2"], "--max-old needs --here", "sshoal clean --here --max-old 2"],
    [["clean", "--here", "--max-old", "few"], '--max-old takes a number <n>, got "few"', "--max-old 2"],
    [["clean", "--here", "nope.sh"], "there is no batch nope.sh here", ""],
  ];
  for (const [args, message, hint] of cases) {
    const { code, stdout, stderr } = await sshoal(...args);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toContain(`error: ${message}`);
    expect(stderr).toContain(hint);
  }
});
