// `--max-output`: of a job that prints far more, the beginning and the end are kept, on the machine and here.

import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { LIGHT_NO_GPU, parseEvents, waitFor } from "../rig/batch.js";
import { runCommand } from "../rig/command.js";
import { endLiveCommands, startCommand } from "../rig/live-commands.js";
import { useMachine } from "../rig/one-machine.js";
import { killAll } from "../rig/processes.js";
import { startSshd } from "../rig/sshd.js";
import { until } from "../rig/until.js";

const { host, work, seen } = useMachine(() => startSshd({ name: "box" }));

afterEach(() => {
  endLiveCommands();
  killAll(host.pids());
});

const LIMIT = 1_000_000;
const MAX_OUTPUT = ["--max-output", "1MB"];
/** 20 MB: lines of ten bytes, which count up. */
const FLOOD = "seq -f %09.0f 1 2000000";
const FLOODED = Array.from({ length: 2_000_000 }, (_, line) => `${line + 1}\n`.padStart(10, "0")).join("");

const sshoal = (cwd = work.dir) => ({ program: "sshoal", cwd }) as const;
const file = (name: string) => work.read(`job_results/${name}`).catch(() => "");

async function argsFor(...jobs: string[]): Promise<string[]> {
  await work.write("jobs.sh", jobs.map((job) => `${job}\n`).join(""));
  return ["jobs.sh", "--machines", await host.machineFile("max_jobs: 1"), ...LIGHT_NO_GPU];
}

/** Fails unless `text` is the beginning and the end of `whole`, with one line between them. */
function expectCut(text: string, whole: string, limit = LIMIT, typed = "1MB"): void {
  const [first = "", last = "", ...more] = text.split(
    new RegExp(`\\[sshoal: [\\d.]+ MB of output left out here: --max-output ${typed}\\]\\n`),
  );
  expect([more, text.length <= limit, text.length > limit * 0.99]).toEqual([[], true, true]);
  expect([first === whole.slice(0, limit / 2), whole.endsWith(last)]).toEqual([true, true]);
  expect(last.length).toBe(limit / 2 - 200);
}

/** Of a stream of the only job on the machine, as far as the disk has room for it. */
function diskBytesThere(stream = "out"): number {
  const batches = join(host.homeDir, ".sshoal/batches");
  const jobs = readdirSync(batches).flatMap((batch) => {
    const dir = join(batches, batch, "jobs");
    return existsSync(dir) ? readdirSync(dir).map((key) => join(dir, key, stream)) : [];
  });
  return statSync(jobs[0] ?? "").blocks * 512;
}

test("with a client that follows and --tee: bounded, each line once, and the exit code is true", async () => {
  const args = [...(await argsFor(`${FLOOD}; echo wrong >&2; exit 3`, "echo short")), ...MAX_OUTPUT, "--tee"];
  const { code, stdout, stderr } = await runCommand(args, { cwd: work.dir });
  expect(code, stderr).toBe(1);
  expectCut(await file("jobs.sh.1.out"), FLOODED);
  expect([await file("jobs.sh.1.err"), await file("jobs.sh.2.out")]).toEqual(["wrong\n", "short\n"]);
  expect(stdout).toMatch(/\n\S 1 {2}exit 3 .* wrong\n/);
  const told = stdout.split("\n").filter((line) => line.startsWith("jobs.sh.1: "));
  const lines = (await file("jobs.sh.1.out")).split("\n").slice(0, -1);
  expect(told.map((line) => line.slice("jobs.sh.1: ".length)).join("\n") === lines.join("\n")).toBe(true);
});

test("a client that is killed and comes back: the machine's disk stays free, and nothing comes twice", async () => {
  const job = `${FLOOD}; ${waitFor(seen.path("go"))}; echo last words`;
  const args = [...(await argsFor(job)), ...MAX_OUTPUT];
  const first = startCommand(args, { cwd: work.dir });
  await until("the first half is here", async () => (await file("jobs.sh.1.out")).length === LIMIT / 2);
  await until("the middle is free there", () => diskBytesThere() < LIMIT + 2 * 65_536);
  first.child.kill("SIGKILL");
  await first.ended;

  const note =
    "jobs.sh.1 has printed more than half of --max-output: the last part comes when it has ended\n";
  const soFar = await runCommand(["logs", "1"], sshoal());
  expect([soFar.stdout === FLOODED.slice(0, LIMIT / 2), soFar.stderr]).toEqual([true, note]);
  const logs = startCommand(["logs", "-f", "1"], sshoal());
  await logs.until(({ stderr }) => stderr().endsWith(note));
  const second = startCommand(args, { cwd: work.dir });
  await second.until(({ stdout, stderr }) => (stdout() + stderr()).includes("resuming"));
  expect((await file("jobs.sh.1.out")).length).toBe(LIMIT / 2);
  await seen.write("go", "");
  const { code, stdout, stderr } = await second.ended;
  expect(code, stdout + stderr).toBe(0);
  const whole = `${FLOODED}last words\n`;
  expectCut(await file("jobs.sh.1.out"), whole);
  const shown = await logs.ended;
  expect([shown.code, shown.stdout === (await file("jobs.sh.1.out"))]).toEqual([0, true]);
});

test("--merge, and a limit of a job's own, or none", async () => {
  const both = `sh -c '${FLOOD}; ${FLOOD} >&2'`;
  const args = await argsFor(
    "#@ --merge --max-output 1MB",
    "",
    both,
    "#@ --max-output 2MB",
    both,
    "#@ --max-output none",
    FLOOD,
  );
  const { code, stdout, stderr } = await runCommand(args, { cwd: work.dir });
  expect(code, stdout + stderr).toBe(0);
  expectCut(await file("jobs.sh.3.out"), FLOODED + FLOODED);
  expectCut(await file("jobs.sh.5.out"), FLOODED + FLOODED, 2 * LIMIT, "2MB");
  expect((await file("jobs.sh.7.out")) === FLOODED).toBe(true);
  expect(existsSync(work.path("job_results/jobs.sh.3.err"))).toBe(false);
});

test("without a client, then from a directory that has no record of it", async () => {
  const args = [...(await argsFor(`${FLOOD}; ${FLOOD} >&2`)), ...MAX_OUTPUT, "--detach"];
  expect((await runCommand(args, { cwd: work.dir })).code).toBe(0);
  await until("it has ended", () => host.pids().length === 0);
  expect([diskBytesThere("out") <= LIMIT + 4096, diskBytesThere("err") <= LIMIT + 4096]).toEqual([
    true,
    true,
  ]);
  const batch = /^(\S+)@/.exec(readdirSync(join(host.homeDir, ".sshoal/batches"))[0] ?? "")?.[1] ?? "";
  const attach = ["attach", batch, "--machines", await host.machineFile("max_jobs: 1")];
  const { code, stdout, stderr } = await runCommand(attach, sshoal(seen.dir));
  expect(code, stdout + stderr).toBe(0);
  for (const stream of ["out", "err"]) expectCut(await seen.read(`job_results/jobs.sh.1.${stream}`), FLOODED);
});

test("on this machine, in place, with --json: the settings name the limit, and logs -f waits for the end", async () => {
  await work.write("jobs.sh", `${FLOOD}; echo the last line; ${waitFor(seen.path("go"))}\n`);
  const home = seen.dir;
  const args = ["jobs.sh", ...LIGHT_NO_GPU, ...MAX_OUTPUT, "--json"];
  const command = startCommand(args, { cwd: work.dir, home });
  await until("the first half is here", async () => (await file("jobs.sh.1.out")).length === LIMIT / 2);
  const logs = startCommand(["logs", "-f", "1"], { ...sshoal(), home });
  await logs.until(({ stderr }) => stderr().includes("the last part comes when it has ended"));
  await seen.write("go", "");
  const { code, stdout, stderr } = await command.ended;
  expect(code, stderr).toBe(0);
  expectCut(await file("jobs.sh.1.out"), `${FLOODED}the last line\n`);
  expect((await logs.ended).stdout === (await file("jobs.sh.1.out"))).toBe(true);
  const [started] = parseEvents(stdout);
  expect(started?.settings.maxOutput).toEqual({ bytes: LIMIT, text: "1MB" });
});

test("a limit that is none is an error before any job starts", async () => {
  const args = [...(await argsFor("#@ --max-output 5", "echo a")), "--max-output", "lots"];
  const typed = await runCommand(args, { cwd: work.dir });
  expect(typed).toMatchObject({ code: 2, stdout: "" });
  expect(typed.stderr).toContain(
    '--max-output takes a size of 1kB or more, with a unit, or none, got "lots"',
  );
  const inFile = await runCommand(args.slice(0, -2), { cwd: work.dir });
  expect(inFile.code).toBe(2);
  expect(inFile.stderr).toContain("jobs.sh:1");
  expect(existsSync(work.path("job_results"))).toBe(false);
});
