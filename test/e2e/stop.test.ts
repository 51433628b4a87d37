// `sshoal stop`, and what every other command shows afterwards.

import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import { EMPTY_SPOOL, LIGHT_NO_GPU, listSpool, waitFor } from "../rig/batch.js";
import { runCommand, spawnCommand } from "../rig/command.js";
import { useMachine } from "../rig/one-machine.js";
import { startSshd } from "../rig/sshd.js";
import { until } from "../rig/until.js";

const { host, work, seen } = useMachine(() => startSshd({ name: "one" }));

const sshoal = (...args: string[]) => runCommand(args, { program: "sshoal", cwd: work.dir });

/** Jobs that note that they ran, and wait for "go"; one runs at a time. */
async function batch(script: string, count: number): Promise<string[]> {
  const job = `echo $SSHOAL_JOB >> ${seen.path("ran")}; ${waitFor(seen.path("go"))}; echo made > made`;
  await work.write(script, `${job}\n`.repeat(count));
  return [script, "--machines", await host.machineFile("max_jobs: 1"), ...LIGHT_NO_GPU];
}

const ran = async () => (await seen.read("ran").catch(() => "")).split("\n").filter((line) => line !== "");

async function detach(args: readonly string[], running: string): Promise<void> {
  expect((await runCommand([...args, "--detach"], { cwd: work.dir })).code).toBe(0);
  await until(`${running} runs`, async () => (await ran()).includes(running));
}

test("after stop nothing runs again by itself: status, clean and attach agree, and only the same command runs it again", async () => {
  const args = await batch("jobs.sh", 3);
  await detach(args, "jobs.sh.1");
  expect(await sshoal("stop", "jobs.sh")).toMatchObject({
    code: 0,
    stdout: [
      "stopped: jobs.sh.1, on one.yaml",
      "stopped: jobs.sh.2, it had not begun",
      "stopped: jobs.sh.3, it had not begun",
      "stopped 3 jobs of jobs.sh\n",
    ].join("\n"),
  });
  await until("no process is left", () => host.pids().length === 0);
  expect(listSpool(`${host.homeDir}/.sshoal`)).toEqual(EMPTY_SPOOL);
  expect(existsSync(work.path("job_results/jobs.sh.2"))).toBe(false);

  const status = await sshoal("status");
  expect(status.stdout).toMatch(/^jobs\.sh {2}stopped .*\n0 succeeded, 3 stopped, 3 in all$/m);
  expect(status.stdout).toContain(
    "the same command, or sshoal retry --state stopped, runs stopped jobs again",
  );
  const clean = await sshoal("clean", "--dry-run");
  expect(clean.stdout).not.toMatch(/jobs\.sh/);
  expect(await sshoal("attach")).toMatchObject({
    code: 2,
    stderr:
      "error: every job here is done or stopped\ntry: sshoal retry --state stopped runs stopped jobs again\n",
  });
  expect(await sshoal("stop", "jobs.sh")).toMatchObject({ code: 2 });

  // Another batch is the only one to follow, and the stopped one does not change.
  await detach(await batch("other.sh", 1), "other.sh.1");
  await seen.write("go", "");
  const attached = await sshoal("attach");
  expect(attached.code, attached.stderr).toBe(0);
  expect(attached.stdout).toContain("finished: other.sh.1");
  const named = await sshoal("attach", "jobs.sh");
  expect(named.stdout).not.toContain("started:");
  expect(named.stdout).not.toContain("WARNING");
  expect(named.stdout).toMatch(/3 stopped/);
  expect(await ran()).toEqual(["jobs.sh.1", "other.sh.1"]);

  const again = await runCommand(args, { cwd: work.dir });
  expect(again.code, again.stdout + again.stderr).toBe(0);
  expect((await ran()).slice(2).sort()).toEqual(["jobs.sh.1", "jobs.sh.2", "jobs.sh.3"]);
});

test("stop prints the same with and without a client that follows the batch", async () => {
  const args = await batch("jobs.sh", 5);
  const said = [
    "stopped: jobs.sh.1, on one.yaml",
    "stopped: jobs.sh.3, it had not begun",
    "stopped: jobs.sh.4, it had not begun",
    "stopped 3 jobs of jobs.sh\n",
  ].join("\n");
  await detach(args, "jobs.sh.1");
  expect(await sshoal("stop", "1", "3-4")).toMatchObject({ code: 0, stdout: said, stderr: "" });
  await until("the next one runs", async () => (await ran()).includes("jobs.sh.2"));
  expect((await sshoal("stop", "--state", "running,waiting")).stdout).toContain("stopped 2 jobs of jobs.sh");

  await seen.write("ran", "");
  const client = spawnCommand(args, { cwd: work.dir });
  await client.until(({ stdout }) => stdout().includes("started: jobs.sh.1"));
  expect(await sshoal("stop", "1", "3-4")).toMatchObject({ code: 0, stdout: said, stderr: "" });
  await client.until(({ stdout }) => stdout().includes("started: jobs.sh.2"));
  await seen.write("go", "");
  const { code, stdout } = await client.ended;
  expect(code).toBe(1);
  expect(stdout).toMatch(/2 succeeded, 0 failed, 3 stopped/);
  expect((await ran()).filter((name) => name === "jobs.sh.3" || name === "jobs.sh.4")).toEqual([]);
});

test("a number that two batches have means the unfinished one", async () => {
  await detach(await batch("done.sh", 1), "done.sh.1");
  expect((await sshoal("stop", "done.sh")).code).toBe(0);
  await detach(await batch("going.sh", 1), "going.sh.1");
  expect(await sshoal("stop", "1")).toMatchObject({
    code: 0,
    stdout: "stopped: going.sh.1, on one.yaml\nstopped 1 job of going.sh\n",
  });
});

test("a second Ctrl-C also stops waiting jobs: attach starts none of them", async () => {
  const args = await batch("jobs.sh", 2);
  const client = spawnCommand(args, { cwd: work.dir });
  await client.until(({ stdout }) => stdout().includes("started: jobs.sh.1"));
  client.child.kill("SIGINT");
  await client.until(({ stderr }) => stderr().includes("no new jobs"));
  client.child.kill("SIGINT");
  expect((await client.ended).code).toBe(130);
  await seen.write("go", "");
  expect((await sshoal("attach")).code).toBe(2);
  expect((await sshoal("attach", "jobs.sh")).stdout).toMatch(/2 stopped/);
  expect(await ran()).toEqual(["jobs.sh.1"]);
  const retried = await sshoal("retry", "--state", "stopped");
  expect(retried.code, retried.stdout + retried.stderr).toBe(0);
  expect((await ran()).slice(1).sort()).toEqual(["jobs.sh.1", "jobs.sh.2"]);
});

test("retry does not warn about jobs that it leaves, and refuses jobs that have not ended", async () => {
  await work.write("jobs.sh", "true\nfalse\ntrue\nfalse\n");
  const args = ["jobs.sh", "--machines", await host.machineFile("max_jobs: 1"), ...LIGHT_NO_GPU];
  expect((await runCommand(args, { cwd: work.dir })).code).toBe(1);
  const retried = await sshoal("retry", "2-4", "--state", "failed");
  expect(retried.stdout.match(/^started: .*$/gm)).toHaveLength(2);
  expect(retried.stdout + retried.stderr).not.toContain("skipping evaluation");
  const again = await runCommand(args, { cwd: work.dir });
  expect(again.stdout).toContain(
    "WARNING: job results already exists for line 2, skipping evaluation: delete if you wish to rerun; it failed (exit code 1): --retry-failed runs it again",
  );
  expect(again.stdout).toContain("for line 1, skipping evaluation: delete if you wish to rerun");

  await detach(await batch("other.sh", 1), "other.sh.1");
  expect(await sshoal("retry", "other.sh")).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/^error: other\.sh\.1 is (waiting|running)$/m),
  });
  expect((await sshoal("stop", "other.sh", "1")).code).toBe(0);
});

test("an unreachable machine: its jobs are reported to continue, and do", async () => {
  const gone = await startSshd({ name: "gone" });
  await work.write("jobs.sh", `touch ${seen.path("ran")}; ${waitFor(seen.path("go"))}\n`);
  const machine = await gone.machineFile("max_jobs: 1");
  expect(
    (await runCommand(["jobs.sh", "--machines", machine, ...LIGHT_NO_GPU, "--detach"], { cwd: work.dir }))
      .code,
  ).toBe(0);
  await until("it runs", () => existsSync(seen.path("ran")));
  await gone.stop();
  const { code, stdout, stderr } = await sshoal("stop", "1");
  expect(stdout).toContain(
    "not stopped: jobs.sh.1, on gone.yaml, which cannot be reached\nstopped 0 jobs of jobs.sh\n",
  );
  expect(stderr).toMatch(/^error: gone\.yaml: .*\ntry: /);
  expect(code).toBe(2);
  expect((await sshoal("status")).stdout).toMatch(/1 running|1 waiting/);
});
