// Starting and ending the queue service, and what of it other accounts can open.

import { statSync } from "node:fs";
import { chmod, mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { isRoot, remoteAccount } from "../rig/account.js";
import { listBelow, waitFor } from "../rig/batch.js";
import { runCommand } from "../rig/command.js";
import { commandOf, pidsWithHome } from "../rig/processes.js";
import { useQueueService } from "../rig/queue-service.js";
import { until } from "../rig/until.js";

if (!isRoot)
  console.warn("SKIPPED: another account at the socket of the service, since only root can be one");

const service = useQueueService();

const status = async () => JSON.parse((await service.run(["serve", "status", "--json"])).stdout);
const services = () =>
  pidsWithHome(service.home.dir).filter((pid) => /serve\0--foreground/.test(commandOf(pid)));

test("serve starts the service once, and prints where it listens", async () => {
  const first = await service.run(["serve"]);
  const { pid, socket, state } = service.note();
  expect(first).toMatchObject({ code: 0, stderr: "" });
  expect(first.stdout).toContain(`listens at ${socket} (process ${pid}, version `);
  const again = await service.run(["serve"]);
  expect(again).toMatchObject({ code: 0, stdout: first.stdout, stderr: "" });
  expect(await status()).toMatchObject({ isRunning: true, pid, socket, state, refuses: null });
  expect(services()).toEqual([pid]);
});

test("of services that are started at the same moment, one runs, and all print it", async () => {
  const starts = await Promise.all([1, 2, 3].map(() => service.run(["serve", "--json"])));
  const { pid } = service.note();
  expect(starts.map(({ code, stderr }) => [code, stderr])).toEqual(starts.map(() => [0, ""]));
  expect(starts.map(({ stdout }) => JSON.parse(stdout).pid)).toEqual(starts.map(() => pid));
  await until("only one is left", () => services().join() === String(pid));
});

test("a service that was stopped leaves its jobs running, and the next one reports how they ended", async () => {
  await service.lines(["serve"]);
  const { pid } = service.note();
  await service.lines(["queue", "pause", "default"]);
  const held = await service.add("default", [], "exit 4");
  await service.lines(["queue", "create", "other"]);
  const job = await service.add("other", [], `touch begun; ${waitFor("go")}; touch done; exit 7`);
  await until("the job runs", () => listBelow(service.work.dir).includes("begun"));
  expect(await service.run(["serve", "stop"])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(`${pid}`),
  });
  expect(commandOf(pid)).toBe("");
  expect(await service.run(["serve", "status"])).toMatchObject({ code: 1 });
  expect(await service.run(["serve", "stop"])).toMatchObject({ code: 0 });
  expect(await service.run(["show"])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("sshoal serve"),
  });
  await service.work.write("go", "");
  await until("the job goes on without a service", () => listBelow(service.work.dir).includes("done"));
  await service.lines(["serve"]);
  expect(await service.run(["wait", job])).toMatchObject({ code: 1 });
  expect(await service.job(job)).toMatchObject({
    state: "failed",
    outcome: { kind: "exited", code: 7 },
    attempt: 1,
  });
  expect(await service.job(held)).toMatchObject({ state: "waiting", reason: "the queue is paused" });
});

test("restart replaces the process and keeps state, queues and jobs", async () => {
  const elsewhere = service.home.path("elsewhere");
  await service.lines(["serve", "--state", elsewhere]);
  const { pid, socket } = service.note();
  await service.lines(["queue", "create", "train", "--max-jobs", "3"]);
  const job = await service.add("train", ["--wait"], "true");
  await service.lines(["serve", "restart"]);
  const now = await status();
  expect(now).toMatchObject({ isRunning: true, state: elsewhere, socket });
  expect(now.pid).not.toBe(pid);
  expect(await service.job(job)).toMatchObject({ state: "succeeded" });
  const { queues } = await service.json("/v1/queues");
  expect(queues).toContainEqual(expect.objectContaining({ name: "train", maxJobs: 3 }));
  const other = await service.run(["serve", "--state", service.home.path("third")]);
  expect(other).toMatchObject({ code: 2, stderr: expect.stringContaining("serve restart --state") });
});

test("restart keeps options that are not typed, and a start with others is refused while the service runs", async () => {
  const read = () => service.note() as unknown as Record<string, unknown>;
  await service.lines(["serve", "--keep-jobs", "7", "--keep-days", "3", "--no-local"]);
  await service.lines(["serve", "--keep-jobs", "7"]);
  await service.lines(["serve", "restart", "--keep-jobs", "8"]);
  expect(read()).toMatchObject({ keepJobs: 8, keepDays: 3, usesThisComputer: false });
  const other = await service.run(["serve", "--keep-jobs", "9"]);
  expect(other).toMatchObject({ code: 2, stderr: expect.stringContaining("serve restart --keep-jobs 9") });
  await service.lines(["serve", "restart", "--keep-jobs", "all", "--keep-days", "all", "--local"]);
  expect(read()).toMatchObject({ keepJobs: null, keepDays: null, usesThisComputer: true });
  const local = await service.run(["serve", "--no-local"]);
  expect(local).toMatchObject({ code: 2, stderr: expect.stringContaining("serve restart --no-local") });
  const stopped = await service.run(["serve", "stop", "--keep-jobs", "9"]);
  expect(stopped).toMatchObject({ code: 2, stderr: expect.stringContaining("no effect with stop") });
});

test("a state directory that cannot be made, or that others can enter, is refused with what to type", async () => {
  const open = service.home.path("open");
  await mkdir(open);
  await chmod(open, 0o755);
  const file = service.home.path("file");
  await writeFile(file, "");
  for (const dir of ["/proc/sshoal/state", open, `${file}/state`]) {
    const refused = await service.run(["serve", "--state", dir]);
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining("sshoal serve --state DIR") });
  }
});

test("stop and status of a service that hangs end with what to type", async () => {
  await service.lines(["serve"]);
  const { pid } = service.note();
  process.kill(pid, "SIGSTOP");
  const asked = [service.run(["serve", "stop"]), service.run(["serve", "status"])];
  const hint = expect.stringContaining(`kill -9 ${pid}`);
  expect(await Promise.all(asked)).toEqual(
    asked.map(() => expect.objectContaining({ code: 1, stderr: hint })),
  );
  process.kill(pid, "SIGKILL");
  await service.lines(["serve"]);
  expect(service.note().pid).not.toBe(pid);
});

test("a socket that was removed is there again, and jobs that ran meanwhile are known", async () => {
  await service.lines(["serve"]);
  const job = await service.add("default", [], `touch begun; ${waitFor("go")}; exit 5`);
  await until("the job runs", () => listBelow(service.work.dir).includes("begun"));
  const { pid, socket } = service.note();
  await rm(socket);
  await service.work.write("go", "");
  await until("the socket is there again", async () => (await service.run(["serve", "status"])).code === 0);
  expect(service.note()).toMatchObject({ pid, socket });
  expect(await service.untilState(job, "failed")).toMatchObject({ outcome: { kind: "exited", code: 5 } });
});

describe("privacy", () => {
  test("everything below the state directory and the socket is the account's alone", async () => {
    await service.lines(["serve"]);
    await service.add("default", ["--wait", "--env", "A=1"], "echo hello; umask 0; touch open");
    const { state, socket } = service.note();
    const open = [socket, state, ...listBelow(state).map((path) => join(state, path))].filter(
      (path) => (statSync(path).mode & 0o077) !== 0 && !path.includes("/results/"),
    );
    expect(open).toEqual([]);
    expect(listBelow(state)).toEqual(expect.arrayContaining(["queue.db", "secrets.db", "service.log"]));
  });

  test.skipIf(!isRoot)("another account can open neither the socket nor the record", async () => {
    await service.lines(["serve"]);
    const { state, socket } = service.note();
    const script = `
      const tries = [];
      for (const path of ${JSON.stringify(["queue.db", "secrets.db", "service.log"])})
        try { require("node:fs").readFileSync(${JSON.stringify(state)} + "/" + path); tries.push("open"); }
        catch (error) { tries.push(error.code); }
      require("node:net").connect(${JSON.stringify(socket)})
        .on("connect", () => { console.log([...tries, "open"].join()); process.exit(); })
        .on("error", (error) => console.log([...tries, error.code].join()));`;
    const { execFileSync } = await import("node:child_process");
    const { uid, gid } = remoteAccount();
    const said = execFileSync(process.execPath, ["-e", script], { uid, gid, cwd: "/" }).toString();
    expect(said.trim()).toBe("EACCES,EACCES,EACCES,EACCES");
    const asked = await runCommand(["show"], {
      cwd: "/",
      program: "sshoal",
      home: service.home.dir,
      env: service.env,
      uid,
    });
    expect(asked.code).toBe(2);
  });
});
