// A script is edited between runs: the command identifies a job, and its results follow it to its new line.

import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { parseEvents, waitFor } from "../rig/batch.js";
import { type CommandResult, runCommand, spawnCommand } from "../rig/command.js";
import { useOwnHome } from "../rig/own-home.js";
import { until } from "../rig/until.js";

const own = useOwnHome();

const options = () => ({ cwd: own.work.dir, home: own.home.dir });
const ARGS = ["jobs.sh", "--machines", "here.yaml", "--no-gpu-required", "--num-cpus", "0.01"];
const argsWith = (...more: string[]) => [...ARGS, "--memory-required", "1", ...more];

/** A command that notes each of its runs, and prints its name. */
function job(name: string, then = ":"): string {
  return `echo ${name} | tee -a ${own.work.path("ran")}; ${then}`;
}

async function write(...commands: string[]): Promise<void> {
  await own.work.write("here.yaml", "transport: local\nmax_jobs: 1\n");
  await own.work.write("jobs.sh", commands.map((command) => `${command}\n`).join(""));
}

function run(...more: string[]): Promise<CommandResult> {
  return runCommand(argsWith(...more), options());
}

async function runOf(commands: readonly string[], ...more: string[]): Promise<CommandResult> {
  await write(...commands);
  return run(...more);
}

/** The commands that ran since the last call, sorted. */
function ran(): string[] {
  const file = own.work.path("ran");
  const names = existsSync(file) ? readFileSync(file, "utf8").split("\n").slice(0, -1) : [];
  rmSync(file, { force: true });
  return names.sort();
}

/** The results under each name: `1`, `2.old-1`. */
function filed(): Record<string, string> {
  const names = readdirSync(own.work.path("job_results")).filter((name) => name.endsWith(".out"));
  return Object.fromEntries(
    names.map((name) => [
      name.replace(/^jobs\.sh\./, "").replace(/\.out$/, ""),
      readFileSync(own.work.path("job_results", name), "utf8").trim(),
    ]),
  );
}

/** Each of those has everything that a job leaves. */
function expectWhole(): void {
  const names = readdirSync(own.work.path("job_results")).filter((name) => name.endsWith(".out"));
  for (const name of names.map((each) => each.replace(/\.out$/, ""))) {
    expect(existsSync(own.work.path("job_results", name)), name).toBe(true);
    expect(existsSync(own.work.path("job_results", `${name}.err`)), name).toBe(true);
  }
}

describe("after A, B and C ran", () => {
  async function runFirst(): Promise<void> {
    expect((await runOf([job("A"), job("B"), job("C")])).code).toBe(0);
    expect(ran()).toEqual(["A", "B", "C"]);
  }

  test("NEW at the top runs, and the results of the others move to their new lines", async () => {
    await runFirst();
    const { code, stdout, stderr } = await runOf([job("NEW"), job("A"), job("B"), job("C")]);
    expect(code, stdout + stderr).toBe(0);
    expect(ran()).toEqual(["NEW"]);
    expect(filed()).toEqual({ 1: "NEW", 2: "A", 3: "B", 4: "C" });
    expectWhole();
    expect(stderr).toContain("jobs.sh was edited: 3 results moved to new lines, 1 new command runs\n");
    expect(stdout.match(/WARNING: job results already exists for line \d/g)).toEqual(
      [2, 3, 4].map((line) => `WARNING: job results already exists for line ${line}`),
    );
    const again = await run();
    expect([again.code, ran(), filed()]).toEqual([0, [], { 1: "NEW", 2: "A", 3: "B", 4: "C" }]);
    expect(again.stderr).not.toContain("was edited");
  });

  test("a deleted line leaves its results as .old-1, and those below move up", async () => {
    await runFirst();
    const { code, stderr } = await runOf([job("A"), job("C")]);
    expect([code, ran()]).toEqual([0, []]);
    expect(filed()).toEqual({ 1: "A", 2: "C", "2.old-1": "B" });
    expectWhole();
    expect(stderr).toContain("jobs.sh was edited: 1 result moved to a new line, 1 moved aside\n");
  });

  test("a changed line runs, and its earlier results become .old-1", async () => {
    await runFirst();
    const { code, stderr } = await runOf([job("A"), job("B2"), job("C")]);
    expect([code, ran()]).toEqual([0, ["B2"]]);
    expect(filed()).toEqual({ 1: "A", 2: "B2", 3: "C", "2.old-1": "B" });
    expectWhole();
    expect(stderr).toContain("jobs.sh was edited: 1 result moved aside, 1 new command runs\n");
  });

  test("swapped lines swap their results", async () => {
    await runFirst();
    expect((await runOf([job("C"), job("B"), job("A")])).code).toBe(0);
    expect([ran(), filed()]).toEqual([[], { 1: "C", 2: "B", 3: "A" }]);
    expectWhole();
  });

  test("--rerun changed is the same", async () => {
    await runFirst();
    expect((await runOf([job("NEW"), job("A"), job("C")], "--rerun", "changed")).code).toBe(0);
    expect([ran(), filed()]).toEqual([["NEW"], { 1: "NEW", 2: "A", 3: "C", "2.old-1": "B" }]);
  });

  test("with --keep-changed results stay with their lines, and changed lines are reported", async () => {
    await runFirst();
    const { code, stderr } = await runOf([job("A"), job("B2"), job("C"), job("D")], "--keep-changed");
    expect([code, ran()]).toEqual([0, ["D"]]);
    expect(filed()).toEqual({ 1: "A", 2: "B", 3: "C", 4: "D" });
    expect(stderr).toContain("line 2 has changed: its results are from the old command: echo B");
    // Without it, the kept results belong to another command.
    expect((await run()).code).toBe(0);
    expect([ran(), filed()]).toEqual([["B2"], { 1: "A", 2: "B2", 3: "C", 4: "D", "2.old-1": "B" }]);
  });

  test("entries beside results move with them", async () => {
    await runFirst();
    expect((await run("--rerun", "all")).code).toBe(0);
    ran();
    const beside = own.work.path("job_results/jobs.sh.1.again-2");
    mkdirSync(beside);
    for (const ending of [".out", ".err"]) writeFileSync(beside + ending, "A again\n");
    expect((await runOf([job("NEW"), job("A"), job("C")])).code).toBe(0);
    expect(ran()).toEqual(["NEW"]);
    // B's own .old-1 stays, so A's gets the next number.
    expect(filed()).toEqual({
      1: "NEW",
      2: "A",
      "2.again-2": "A again",
      "2.old-1": "B",
      "2.old-2": "A",
      "2.old-3": "B",
      3: "C",
      "3.old-1": "C",
    });
    expectWhole();
  });

  test("results without a record stay with their line, and are skipped", async () => {
    await runFirst();
    const foreign = own.work.path("job_results/jobs.sh.4");
    mkdirSync(foreign);
    for (const ending of [".out", ".err"]) writeFileSync(foreign + ending, "of another tool\n");
    const { code, stdout } = await runOf([job("A"), job("B"), job("C"), job("D"), job("E")]);
    expect([code, ran()]).toEqual([0, ["E"]]);
    expect(stdout).toContain("already exists for line 4,");
    expect((await runOf([job("A"), job("B"), job("C"), job("X"), job("E"), job("D")])).code).toBe(0);
    expect([ran(), filed()]).toEqual([
      ["D"],
      { 1: "A", 2: "B", 3: "C", 4: "of another tool", 5: "E", 6: "D" },
    ]);
  });

  test("--json reports the edit in run-started", async () => {
    await runFirst();
    const { stdout } = await runOf([job("NEW"), job("A"), job("C")], "--json");
    const [started] = parseEvents(stdout);
    expect(started).toMatchObject({
      kind: "run-started",
      edit: {
        moves: [
          { job: 1, from: "jobs.sh.1", to: "jobs.sh.2" },
          { job: 2, from: "jobs.sh.2", to: "jobs.sh.2.old-1" },
        ],
        gone: [2],
        counts: { moved: 1, aside: 1, dropped: 0, added: 1 },
      },
    });
  });

  test("status, results and logs use the new lines", async () => {
    await runFirst();
    await runOf([job("NEW"), job("A"), job("C")]);
    const ask = (...args: string[]) => runCommand(args, { ...options(), program: "sshoal" });
    expect((await ask("logs", "2")).stdout).toContain("A\n");
    const rows = parseEvents((await ask("results", "--json")).stdout);
    expect(rows.map(({ name }) => name)).toEqual(["jobs.sh.1", "jobs.sh.2", "jobs.sh.3"]);
    expect((await ask("status")).stdout).toContain("3 succeeded");
  });

  test("killed at every rename, the same command puts each result into its place", {
    timeout: 300_000,
  }, async () => {
    const preload = fileURLToPath(new URL("../rig/kill-at-rename.cjs", import.meta.url));
    const kills: number[] = [];
    for (let at = 1; ; at++) {
      rmSync(own.work.path("job_results"), { recursive: true, force: true });
      await runFirst();
      await write(job("C"), job("NEW"), job("A"), "# no more B");
      const env = { NODE_OPTIONS: `--require ${preload}`, TEST_KILL_AT_RENAME: String(at) };
      const killed = await runCommand(argsWith(), { ...options(), env });
      if (killed.signal === null) break;
      kills.push(at);
      const { code, stdout, stderr } = await run();
      expect([at, code], stdout + stderr).toEqual([at, 0]);
      expect(ran()).toEqual(["NEW"]);
      expect(filed()).toEqual({ 1: "C", 2: "NEW", 3: "A", "2.old-1": "B" });
      expectWhole();
      expect(readdirSync(own.work.path("job_results/.sshoal"))).toEqual(["incoming", "jobs.sh.jsonl"]);
    }
    expect(kills.length).toBeGreaterThan(15);
  });
});

test("equal commands are matched in order", async () => {
  expect((await runOf([job("X"), job("A"), job("X")])).code).toBe(0);
  appendFileSync(own.work.path("job_results/jobs.sh.1.out"), "first\n");
  appendFileSync(own.work.path("job_results/jobs.sh.3.out"), "second\n");
  ran();
  expect((await runOf([job("A"), job("X"), job("X"), job("X")])).code).toBe(0);
  expect([ran(), filed()]).toEqual([["X"], { 1: "A", 2: "X\nfirst", 3: "X\nsecond", 4: "X" }]);
});

describe("while jobs run without a client", () => {
  const go = () => own.work.path("go");

  /** A runs, and B and C wait for the only slot. */
  async function detach(): Promise<void> {
    await write(job("A", waitFor(go())), job("B"), job("C"));
    const { code, stderr } = await run("--detach");
    expect(code, stderr).toBe(0);
    await until("A runs", () => existsSync(own.work.path("ran")));
  }

  test("a running job is followed to its end, and stored under its new line", async () => {
    await detach();
    await write(job("NEW"), job("A", waitFor(go())), job("B"), job("C"));
    const client = spawnCommand(argsWith(), options());
    await client.until(({ stdout }) => stdout().includes("resuming"));
    writeFileSync(go(), "");
    const { code, stdout, stderr } = await client.ended;
    expect(code, stdout + stderr).toBe(0);
    expect(ran()).toEqual(["A", "B", "C", "NEW"]);
    expect(filed()).toEqual({ 1: "NEW", 2: "A", 3: "B", 4: "C" });
    expectWhole();
  });

  test("a running job whose command is gone ends, and is stored as .old-1", async () => {
    await detach();
    await write(job("A2"), job("B"), job("C"));
    const client = spawnCommand(argsWith(), options());
    await client.until(({ stdout }) => stdout().includes("resuming"));
    writeFileSync(go(), "");
    const { code, stdout, stderr } = await client.ended;
    expect(code, stdout + stderr).toBe(0);
    expect(ran()).toEqual(["A", "A2", "B", "C"]);
    expect(filed()).toEqual({ 1: "A2", "1.old-1": "A", 2: "B", 3: "C" });
    expectWhole();
  });

  test("a waiting job whose command is gone or changed is taken back, and never runs", async () => {
    await detach();
    await write(job("A", waitFor(go())), job("B2"));
    const again = await run("--detach");
    expect(again.code, again.stderr).toBe(0);
    expect(again.stderr).toContain("jobs.sh was edited: 2 waiting commands dropped, 1 new command runs\n");
    writeFileSync(go(), "");
    const { code, stdout, stderr } = await run();
    expect(code, stdout + stderr).toBe(0);
    expect(ran()).toEqual(["A", "B2"]);
    expect(filed()).toEqual({ 1: "A", 2: "B2" });
  });

  test("after a crash an edited line never runs in both versions", async () => {
    await detach();
    for (const [name, kind] of [
      ["B2", "run-started"],
      ["B3", "jobs-assigned"],
      ["B4", "jobs-handed-over"],
    ] as const) {
      await write(job("A", waitFor(go())), job(name), job("C"));
      const client = spawnCommand(argsWith("--json"), options());
      await client.until(({ stdout }) => stdout().includes(`"kind":"${kind}"`));
      client.child.kill("SIGKILL");
      await client.ended;
    }
    await write(job("A", waitFor(go())), job("B5"), job("C"));
    expect((await run("--detach")).code).toBe(0);
    writeFileSync(go(), "");
    const { code, stdout, stderr } = await run();
    expect(code, stdout + stderr).toBe(0);
    expect(ran()).toEqual(["A", "B5", "C"]);
    expect(filed()).toEqual({ 1: "A", 2: "B5", 3: "C" });
  });

  test("a command that comes back before it ended is the same job", async () => {
    await detach();
    const commands = [job("A", waitFor(go())), job("B"), job("C")];
    await write(job("B"), job("C"));
    expect((await run("--detach")).code).toBe(0);
    await write(...commands);
    expect((await run("--detach")).code).toBe(0);
    writeFileSync(go(), "");
    const { code, stdout, stderr } = await run();
    expect(code, stdout + stderr).toBe(0);
    expect(ran()).toEqual(["A", "B", "C"]);
    expect(filed()).toEqual({ 1: "A", 2: "B", 3: "C" });
  });
});

test("results of a sweep follow their parameters when its file is edited", async () => {
  await write(job("A"));
  const sweep = async (values: string) => {
    const command = `echo {x} | tee -a ${own.work.path("ran")}`;
    await own.work.write("sweep.yaml", `command: "${command}"\ngrid:\n  x: [${values}]\n`);
    const [, ...flags] = argsWith("--run");
    return runCommand(["sweep", "sweep.yaml", ...flags], { ...options(), program: "sshoal" });
  };
  const first = await sweep("1, 2");
  expect([first.code, ran()], first.stderr).toEqual([0, ["1", "2"]]);
  const second = await sweep("0, 2, 1");
  expect([second.code, ran()], second.stderr).toEqual([0, ["0"]]);
  const out = (index: number) => own.work.read(`job_results/sweep.yaml.${index}.out`);
  expect([await out(1), await out(2), await out(3)]).toEqual(["0\n", "2\n", "1\n"]);
});
