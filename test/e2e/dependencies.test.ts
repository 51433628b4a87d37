// Jobs that come after other jobs of their batch file: order, failures, a killed client, and mistakes.

import { existsSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { LIGHT_NO_GPU, parseEvents, waitFor } from "../rig/batch.js";
import { runCommand, spawnCommand } from "../rig/command.js";
import { startHost } from "../rig/host.js";
import { useMachine } from "../rig/one-machine.js";
import { until } from "../rig/until.js";

const { host, work, seen } = useMachine(() => startHost({ name: "one" }));

const sshoal = (...args: string[]) => runCommand(args, { cwd: work.dir, program: "sshoal" });

async function save(...lines: string[]): Promise<void> {
  await work.write("jobs.sh", lines.map((line) => `${line}\n`).join(""));
}

/** Fails unless all of these files exist: the jobs that come before write them. */
function job(name: string, ...before: string[]): string {
  const tests = before.map((each) => `[ -e ${seen.path(each)} ] || exit 9; `);
  return `${tests.join("")}touch ${seen.path(name)}`;
}

/** With a failure in the middle, unless the file `good` exists. */
async function saveGraph(): Promise<void> {
  await save(
    "#@ --name collect --after a,b,c",
    job("collect", "a", "b", "c"),
    "#@ --name prepare",
    job("prepare"),
    "#@ --name a --after prepare",
    job("a", "prepare"),
    "#@ --name b --after prepare",
    `[ -e ${seen.path("good")} ] || exit 3; ${job("b", "prepare")}`,
    "#@ --name c --after 4",
    job("c", "prepare"),
    "#@ --name report --after-any collect",
    job("report", "a", "c"),
    "#@ --name rescue --after-fail b",
    job("rescue", "prepare"),
  );
}

describe.each(["on a machine", "on this computer"])("%s", (place) => {
  const machines = async () => (place === "on a machine" ? ["--machines", await host.machineFile()] : []);

  test("prepare, three jobs and a last one: a failure skips what needs it, and a retry runs it", async () => {
    await saveGraph();
    const args = ["jobs.sh", ...(await machines()), ...LIGHT_NO_GPU];
    const first = await runCommand(args, { cwd: work.dir });
    expect([first.code, first.stdout]).toEqual([
      1,
      expect.stringContaining("5 succeeded, 1 failed, 1 skipped"),
    ]);
    expect(first.stdout).toContain("skipped: jobs.sh.collect; after job 8 (b), which failed\n");
    expect(first.stdout).not.toContain("started: jobs.sh.collect");
    const status = await sshoal("status");
    expect(status.stdout).toMatch(/skipped +collect +after job 8 \(b\), which failed\n/);
    expect((await sshoal("why", "collect")).stdout).toBe(
      "collect is skipped: after job 8 (b), which failed\n",
    );
    expect((await sshoal("wait", "collect")).code).toBe(1);
    const refused = await sshoal("retry", "collect");
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining("try: sshoal retry b\n")]);

    await seen.write("good", "");
    const second = await runCommand([...args, "--retry-failed"], { cwd: work.dir });
    expect([second.code, second.stdout + second.stderr]).toEqual([
      0,
      expect.stringContaining("2 succeeded, 0 failed, 5 skipped"),
    ]);
    expect(existsSync(seen.path("collect"))).toBe(true);
  });

  test("the client is killed while the first job runs: the same command goes on with the order", async () => {
    await save(
      "#@ --name prepare",
      `touch ${seen.path("begun")}; ${waitFor(seen.path("go"))}; ${job("prepare")}`,
      "#@ --name a --after prepare",
      job("a", "prepare"),
      "#@ --name b --after a",
      job("b", "a"),
    );
    const args = ["jobs.sh", ...(await machines()), ...LIGHT_NO_GPU];
    const client = spawnCommand(args, { cwd: work.dir });
    await until("the first job runs", () => existsSync(seen.path("begun")));
    await until("status says so", async () => {
      const { stdout } = await sshoal("status");
      return /waiting +a .*waits for job 2 \(prepare\), which runs on/.test(stdout);
    });
    expect((await sshoal("why", "b")).stdout).toBe("b waits for job 4 (a), which waits\n");
    client.child.kill("SIGKILL");
    await client.ended;
    await seen.write("go", "");
    const { code, stdout, stderr } = await runCommand(args, { cwd: work.dir });
    expect([code, stdout + stderr]).toEqual([0, expect.stringContaining("succeeded, 0 failed")]);
    expect(existsSync(seen.path("b"))).toBe(true);
  });
});

test("--detach leaves the next phase to a later client", async () => {
  await save(
    "#@ --name prepare",
    `${waitFor(seen.path("go"))}; ${job("prepare")}`,
    "#@ --after prepare",
    job("last", "prepare"),
  );
  const args = ["jobs.sh", "--machines", await host.machineFile(), ...LIGHT_NO_GPU, "--detach"];
  const detached = await runCommand(args, { cwd: work.dir });
  expect([detached.code, detached.stderr]).toEqual([
    0,
    expect.stringContaining("1 job waits for you: the same command resumes the batch\n"),
  ]);
  await seen.write("go", "");
  await until("the first job has ended", () => existsSync(seen.path("prepare")));
  const { code, stdout, stderr } = await sshoal("attach");
  expect([code, stdout + stderr]).toEqual([0, expect.stringContaining("2 succeeded, 0 failed")]);
  expect(existsSync(seen.path("last"))).toBe(true);
});

test("an edit replaces the job that failed: the skipped job runs after the new one", async () => {
  await save("#@ --name first", "exit 3", "#@ --name last --after first", job("last", "first"));
  const args = ["jobs.sh", "--machines", await host.machineFile(), ...LIGHT_NO_GPU];
  expect((await runCommand(args, { cwd: work.dir })).code).toBe(1);
  await save("true", "#@ --name first", job("first"), "#@ --name last --after first", job("last", "first"));
  const { code, stdout, stderr } = await runCommand(args, { cwd: work.dir });
  expect([code, stdout + stderr]).toEqual([0, expect.stringContaining("3 succeeded, 0 failed")]);
});

test("a job for failures that is not needed leaves the exit code 0", async () => {
  await save("#@ --name train", "true", "#@ --after-fail train", "false");
  const { code, stdout } = await runCommand(["jobs.sh", ...LIGHT_NO_GPU, "--json"], { cwd: work.dir });
  expect(code).toBe(0);
  const events = parseEvents(stdout);
  expect(events.filter(({ kind }) => kind === "job-blocked")).toEqual([
    expect.objectContaining({ job: 4, by: 2, when: "failed", turnout: "succeeded", isUnneeded: true }),
  ]);
  expect(events.at(-1)?.counts).toMatchObject({ succeeded: 1, unfinished: 0, unneeded: 1 });
});

test("--dry-run shows the phases", async () => {
  await save("true", "#@ --after 1", "true", "#@ --after 3", "true");
  const { stdout } = await runCommand(["jobs.sh", ...LIGHT_NO_GPU, "--dry-run"], { cwd: work.dir });
  expect(stdout.match(/would start on/g)).toHaveLength(1);
  expect(stdout).toContain("phase 2: 1 job would start after others: jobs.sh.3\n");
  expect(stdout).toContain("phase 3: 1 job would start after others: jobs.sh.5\n");
});

test("on stdin, a job may come after one that arrived before it", async () => {
  const input = [
    "#@ --name first",
    `sleep 0.2; ${job("first")}`,
    "#@ --after first",
    job("second", "first"),
    "#@ --after later",
    job("third"),
    "",
  ].join("\n");
  const { code, stderr } = await runCommand(["-", ...LIGHT_NO_GPU], { cwd: work.dir, stdin: input });
  expect(code).toBe(1);
  expect(stderr).toContain("stdin:5: no job later has arrived before; the job in line 6 is left out");
  expect([existsSync(seen.path("second")), existsSync(seen.path("third"))]).toEqual([true, false]);
});

describe("mistakes", () => {
  async function errors(...lines: string[]): Promise<string> {
    await save(...lines);
    const { code, stderr } = await runCommand(["jobs.sh", ...LIGHT_NO_GPU], { cwd: work.dir });
    expect(code).toBe(2);
    return stderr;
  }

  test("a name that no job has", async () => {
    const said = await errors(
      "#@ --name prepare",
      "true",
      "#@ --after prepar",
      "true",
      "#@ --after-any 77",
      "true",
    );
    expect(said).toContain("error: jobs.sh:3: there is no job prepar\ntry: did you mean prepare?\n");
    expect(said).toContain("error: jobs.sh:5: there is no job 77\n");
  });

  test("jobs that wait for each other, and a job that waits for itself", async () => {
    const said = await errors(
      "#@ --name a --after c",
      "true",
      "#@ --name b --after a",
      "true",
      "#@ --name c --after-any b",
      "true",
      "#@ --name own --after own",
      "true",
    );
    expect(said).toContain(
      "error: jobs.sh:1: jobs wait for each other: a (jobs.sh:1) after c (jobs.sh:5) after b (jobs.sh:3) after a\n",
    );
    expect(said).toContain("error: jobs.sh:7: the job own comes after itself\n");
  });

  test("for all jobs", async () => {
    expect(await errors("#@ --after 3", "", "true")).toContain(
      "error: jobs.sh:1: --after cannot be set here\n",
    );
  });
});
