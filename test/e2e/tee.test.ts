// --tee: every line of every job's output, once, on the screen and in its file.

import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { LIGHT_NO_GPU, parseEvents, waitFor } from "../rig/batch.js";
import { runCommand, spawnCommand } from "../rig/command.js";
import { makeHome } from "../rig/own-home.js";
import { type Relay, startRelay } from "../rig/relay.js";
import { startSshd, type TestHost } from "../rig/sshd.js";
import { until } from "../rig/until.js";
import { makeWorkspace, type Workspace } from "../rig/workspace.js";

let host: TestHost;
let relay: Relay;
let work: Workspace;
let seen: Workspace;
let home: Workspace;

beforeAll(async () => {
  host = await startSshd({ name: "one" });
  relay = await startRelay(host.port);
});
beforeEach(async () => {
  [work, seen, home] = await Promise.all([makeWorkspace(), makeWorkspace(), makeHome()]);
});
afterEach(() => Promise.all([work.remove(), seen.remove(), home.remove()]));
afterAll(async () => {
  await relay.stop();
  await host.stop();
});

async function argsFor(jobs: readonly string[], ...more: string[]): Promise<string[]> {
  await work.write("jobs.sh", jobs.map((job) => `${job}\n`).join(""));
  const machine = await host.machineFile("max_jobs: 3", relay);
  return ["jobs.sh", "--machines", machine, ...LIGHT_NO_GPU, "--tee", ...more];
}

/** What was shown of a job. */
function shownOf(line: number, text: string): string[] {
  const prefix = `jobs.sh.${line}: `;
  return text.split("\n").flatMap((each) => (each.startsWith(prefix) ? [each.slice(prefix.length)] : []));
}

function linesOf(text: string): string[] {
  return text === "" ? [] : text.replace(/\n$/, "").split("\n");
}

async function expectAllShown(line: number, { stdout, stderr }: { stdout: string; stderr: string }) {
  expect(shownOf(line, stdout)).toEqual(linesOf(await work.read(`job_results/jobs.sh.${line}.out`)));
  expect(shownOf(line, stderr)).toEqual(linesOf(await work.read(`job_results/jobs.sh.${line}.err`)));
}

test("short jobs, long ones, a megabyte, and a lost connection: each line once, on the job's stream", async () => {
  const goesOn = (n: number) => `${waitFor(seen.path(`go${n}`))}; echo part ${n}; echo wrong ${n} >&2`;
  const args = await argsFor([
    "echo at once; echo wrong at once >&2; printf 'no newline'",
    `seq 1 150000; ${waitFor(seen.path("go1"))}; seq 150000 -1 1 >&2`,
    `echo begun; ${goesOn(1)}; ${goesOn(2)}; printf end`,
    "true",
  ]);
  const command = spawnCommand(args, { cwd: work.dir });
  await command.until(({ stdout }) => stdout().includes("jobs.sh.3: begun\n"));
  await command.until(({ stdout }) => stdout().includes("jobs.sh.2: 150000\n"));
  await seen.write("go1", "");
  await command.until(({ stdout }) => stdout().includes("jobs.sh.3: part 1\n"));
  relay.cut();
  await seen.write("go2", "");
  const ended = await command.ended;
  expect(ended.code, ended.stderr).toBe(0);
  for (const line of [1, 2, 3, 4]) await expectAllShown(line, ended);
  expect(shownOf(1, ended.stdout)).toEqual(["at once", "no newline"]);
  expect(shownOf(3, ended.stdout)).toEqual(["begun", "part 1", "part 2", "end"]);
  expect(shownOf(2, ended.stderr)).toHaveLength(150_000);
  // A job's output is printed before its end is reported.
  expect(ended.stdout.indexOf("jobs.sh.3: end\n")).toBeLessThan(ended.stdout.indexOf("finished: jobs.sh.3;"));
});

test("a client that resumes shows what the first one had not fetched", async () => {
  const job = `echo early; printf par; ${waitFor(seen.path("go"))}; echo tial; echo late`;
  const args = await argsFor([job]);
  const command = spawnCommand(args, { cwd: work.dir });
  await command.until(({ stdout }) => stdout().includes("jobs.sh.1: early\n"));
  await until(
    "the part is here",
    async () => (await work.read("job_results/jobs.sh.1.out")) === "early\npar",
  );
  command.child.kill("SIGKILL");
  const first = await command.ended;
  expect(shownOf(1, first.stdout)).toEqual(["early"]);
  await seen.write("go", "");
  const second = await runCommand(args, { cwd: work.dir });
  expect(second.code, second.stderr).toBe(0);
  expect(shownOf(1, second.stdout)).toEqual(["partial", "late"]);
});

test("on this machine, as events", async () => {
  await work.write("jobs.sh", "echo one; echo two; echo wrong >&2; printf '\\033[31mred\\r'\n");
  await work.write("here.yaml", "transport: local\nmax_jobs: 1\n");
  const args = ["jobs.sh", "--machines", "here.yaml", ...LIGHT_NO_GPU, "--tee", "--json"];
  const { code, stdout } = await runCommand(args, { cwd: work.dir, home: home.dir });
  expect(code).toBe(0);
  const said = parseEvents(stdout).filter(({ kind }) => kind === "job-output");
  const textOf = (name: string) =>
    said
      .filter(({ stream }) => stream === name)
      .map(({ text }) => text)
      .join("");
  expect(textOf("out")).toBe("one\ntwo\n\x1b[31mred\r");
  expect(textOf("err")).toBe("wrong\n");
  expect(said[0]).toMatchObject({ v: 2, job: 1, name: "jobs.sh.1", attempt: 1 });
});
