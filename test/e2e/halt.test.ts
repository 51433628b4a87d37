// --halt, on another machine and on this one: which jobs still run, which never start, the exit code, and that the same
// command resumes.

import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { EMPTY_SPOOL, LIGHT_NO_GPU, listBelow, listSpool, parseEvents, waitFor } from "../rig/batch.js";
import { type LiveCommand, runCommand, spawnCommand } from "../rig/command.js";
import { makeHome } from "../rig/own-home.js";
import { startSshd, type TestHost } from "../rig/sshd.js";
import { until } from "../rig/until.js";
import { makeWorkspace, type Workspace } from "../rig/workspace.js";

let host: TestHost;
let work: Workspace;
let seen: Workspace;
let home: Workspace;

beforeAll(async () => {
  host = await startSshd({ name: "one" });
});
beforeEach(async () => {
  [work, seen, home] = await Promise.all([makeWorkspace(), makeWorkspace(), makeHome()]);
});
afterEach(() => Promise.all([work.remove(), seen.remove(), home.remove()]));
afterAll(() => host.stop());

/** Two slots. Line 1 ends with `code` once a file "first" exists; the others once "go" exists. */
async function argsFor(code: number, rule: string): Promise<string[]> {
  const first = `touch ${seen.dir}/$SSHOAL_JOB; ${waitFor(seen.path("first"))}; exit ${code}`;
  const other = `touch ${seen.dir}/$SSHOAL_JOB; ${waitFor(seen.path("go"))}; echo finished`;
  await work.write("jobs.sh", [first, ...Array(9).fill(other), ""].join("\n"));
  const machine = await host.machineFile("max_jobs: 2");
  return ["jobs.sh", "--machines", machine, ...LIGHT_NO_GPU, "--halt", rule];
}

/** Lines that began. */
function begun(): number[] {
  const names = listBelow(seen.dir).filter((name) => name.startsWith("jobs.sh."));
  return names.map((name) => Number(name.split(".").at(-1))).sort((one, other) => one - other);
}

async function untilTwoRun(command: LiveCommand): Promise<void> {
  await command.until(({ stdout }) => stdout().split("\n").filter(isStart).length === 2);
}

function isStart(line: string): boolean {
  return line.startsWith("started: ") || line.includes('"kind":"job-started"');
}

/** Jobs on the machine that neither a slot nor the client has taken. */
function waitingJobs(home: string): string[] {
  const paths = listBelow(`${home}/.sshoal/batches`);
  const jobs = paths.filter((path) => path.endsWith("/command")).map((path) => path.replace(/command$/, ""));
  return jobs.filter((job) => !paths.includes(`${job}claim`));
}

test("soon,fail=1: running jobs finish, the others do not begin; the same command runs those", async () => {
  const args = await argsFor(1, "soon,fail=1");
  const command = spawnCommand(args, { cwd: work.dir });
  await untilTwoRun(command);
  await seen.write("first", "");
  await command.until(({ stderr }) =>
    stderr().includes("1 job failed: --halt soon,fail=1 lets running jobs finish\n"),
  );
  await until("no job is left for a slot to take", () => waitingJobs(host.homeDir).length === 0);
  await seen.write("go", "");
  const { code, stdout } = await command.ended;
  expect(code).toBe(1);
  // The slot of line 1 may have begun another job before the client heard of it.
  const count = begun().length;
  expect(count).toBeLessThanOrEqual(3);
  expect(stdout).toContain(`${count - 1} succeeded, 1 failed, ${10 - count} unfinished in `);
  expect(stdout).toContain(`unfinished jobs:\n  ${10 - count} waiting\n`);
  expect(listSpool(`${host.homeDir}/.sshoal`)).toEqual(EMPTY_SPOOL);

  const again = await runCommand(args, { cwd: work.dir });
  expect(again.stderr).not.toContain("--halt");
  expect(again.stdout).toContain(
    `${10 - count} succeeded, 0 failed, ${count} skipped (1 of them failed before)`,
  );
  expect(again.code).toBe(1);
  expect(await work.read("job_results/jobs.sh.10.out")).toBe("finished\n");
});

test("now,fail=10%: running jobs are stopped and collected", async () => {
  const command = spawnCommand([...(await argsFor(1, "now,fail=10%")), "--json"], { cwd: work.dir });
  await untilTwoRun(command);
  await seen.write("first", "");
  const { code, stdout } = await command.ended;
  expect(code).toBe(1);
  const events = parseEvents(stdout);
  expect(events).toContainEqual(
    expect.objectContaining({ kind: "halted", when: "now", why: "fail", count: 1, rule: "now,fail=10%" }),
  );
  const outcomes = events.filter(({ kind }) => kind === "job-collected").map(({ outcome }) => outcome.kind);
  // Line 2, and perhaps a job that the slot of line 1 began before the client heard of it.
  expect(outcomes.filter((kind) => kind === "stopped").length).toBe(outcomes.length - 1);
  expect([2, 3]).toContain(outcomes.length);
  await until("all of it has ended", () => host.pids().length === 0);
  expect(listSpool(`${host.homeDir}/.sshoal`)).toEqual(EMPTY_SPOOL);
});

test("now,success=1 on this machine: one success is enough", async () => {
  const args = await argsFor(0, "now,success=1");
  await work.write("here.yaml", "transport: local\nmax_jobs: 2\n");
  const here = args.map((word) => (word.endsWith("one.yaml") ? "here.yaml" : word));
  const command = spawnCommand(here, { cwd: work.dir, home: home.dir });
  await untilTwoRun(command);
  await seen.write("first", "");
  const { code, stderr, stdout } = await command.ended;
  expect(stderr).toContain("1 job succeeded: --halt now,success=1 stops running jobs\n");
  expect(stdout).toMatch(/^\S 2 {2}stopped {2}/m);
  expect(code).toBe(0);
});

test("a batch whose rule is met by its last job ends as usual", async () => {
  await work.write("jobs.sh", "true\nfalse\n");
  await work.write("here.yaml", "transport: local\nmax_jobs: 1\n");
  const args = ["jobs.sh", "--machines", "here.yaml", ...LIGHT_NO_GPU, "--halt", "soon,fail=1"];
  const { code, stdout } = await runCommand(args, { cwd: work.dir, home: home.dir });
  expect(stdout).toContain("1 succeeded, 1 failed in ");
  expect(code).toBe(1);
});

test("an invalid rule is reported before anything begins", async () => {
  await work.write("jobs.sh", "true\n");
  const { code, stderr } = await runCommand(["jobs.sh", "--halt", "soon,fial=1"], { cwd: work.dir });
  expect(code).toBe(2);
  expect(stderr).toContain('error: --halt: unknown rule "soon,fial=1"\ntry: for example --halt soon,fail=3');
});
