// What may go wrong around the queue service: a full disk, a clock that jumps, a machine that never comes back.

import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, expect, test } from "vitest";
import { isRoot } from "../rig/account.js";
import { waitFor } from "../rig/batch.js";
import { pidsWithHome } from "../rig/processes.js";
import { LITTLE, useQueueService } from "../rig/queue-service.js";
import { startRelay } from "../rig/relay.js";
import { startSshd } from "../rig/sshd.js";
import { until } from "../rig/until.js";

const service = useQueueService();
const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

/** In the foreground, because a service in the background gets few variables. */
async function serveHere(): Promise<void> {
  service.spawn(["serve", "--foreground"]);
  await until("it answers", async () => (await service.run(["serve", "status"])).code === 0);
}

/** From now on, commands and services have a clock that the returned function sets off by so many seconds. */
function useClock(): (seconds: number) => void {
  const clock = service.home.path("clock");
  const preload = fileURLToPath(new URL("../rig/shift-clock.cjs", import.meta.url));
  Object.assign(service.env, { TEST_CLOCK: clock, NODE_OPTIONS: `--require ${preload}` });
  return (seconds) => writeFileSync(clock, String(seconds));
}

test.skipIf(!isRoot)(
  "a full disk: new jobs are refused with the reason, and what ended meanwhile is recorded once there is room",
  async () => {
    const disk = service.home.path("disk");
    await mkdir(disk);
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=16m,mode=700", "sshoal-test", disk]);
    cleanups.push(() => execFileSync("umount", ["-l", disk]));
    await mkdir(join(disk, "state"), { mode: 0o700 });
    await service.lines(["serve", "--state", join(disk, "state")]);
    const early = await service.add("default", [], waitFor(service.work.path("go")));
    await service.untilState(early, "running");
    const fill = join(disk, "fill");
    expect(() => writeFileSync(fill, Buffer.alloc(64 << 20))).toThrow("ENOSPC");

    const refused = await service.run(["enqueue", ...LITTLE, "--", "true"]);
    expect(refused).toMatchObject({ code: 1, stdout: "" });
    expect(refused.stderr).toContain("the record of the service cannot be written: the disk is full");
    await service.work.write("go", "");
    rmSync(fill);
    expect(await service.untilState(early, "succeeded", "failed")).toMatchObject({ state: "succeeded" });
    const late = await service.add("default", ["--wait"], "true");
    expect((await service.jobs("default")).map(({ id, state }) => [id, state])).toEqual([
      [1, "succeeded"],
      [Number(late.split("/")[1]), "succeeded"],
    ]);
  },
);

test("a clock that jumps by a year, forth and back: each job runs once, in order, and has its variables", async () => {
  const shift = useClock();
  const YEAR = 366 * 86_400;
  await serveHere();
  await service.lines(["queue", "create", "one", "--max-jobs", "1"]);
  const note = (n: number) => `echo $WORD >>log; ${waitFor(service.work.path(`go-${n}`))}`;
  const add = (n: number) => service.add("one", ["--env", `WORD=${n}`], note(n));
  const names = [await add(1), await add(2)];
  await service.untilState("one/1", "running");
  shift(YEAR);
  names.push(await add(3));
  await service.work.write("go-1", "");
  await service.untilState("one/2", "running");
  shift(-YEAR);
  names.push(await add(4));
  for (const n of [2, 3, 4]) await service.work.write(`go-${n}`, "");
  await service.kill();
  await serveHere();
  expect(await service.run(["wait", "one"])).toMatchObject({ code: 0 });
  expect(names).toEqual(["one/1", "one/2", "one/3", "one/4"]);
  expect(await service.work.read("log")).toBe("1\n2\n3\n4\n");
  const jobs = await service.jobs("one");
  expect(jobs.map(({ state, attempt }) => [state, attempt])).toEqual(Array(4).fill(["succeeded", 1]));
  const enqueued = jobs.map(({ enqueuedAt }) => enqueuedAt as number);
  expect((enqueued[2] ?? 0) - (enqueued[3] ?? 0)).toBeGreaterThan(YEAR * 1000);
  for (const { durationMs } of jobs) expect(durationMs).toBeGreaterThanOrEqual(0);
});

test("a machine that never comes back: the others run what waits, and its own job can be stopped", async () => {
  const hosts = await Promise.all(["gone", "stays"].map((name) => startSshd({ name })));
  const relays = await Promise.all(hosts.map(({ port }) => startRelay(port)));
  cleanups.push(async () => {
    await Promise.all(relays.map((relay) => relay.stop()));
    await Promise.all(hosts.map((host) => host.stop()));
  });
  const [gone, stays] = await Promise.all(
    hosts.map((host, n) => host.machineFile("max_jobs: 1", { port: relays[n]?.port ?? 0 })),
  );
  await service.lines(["serve"]);
  await service.lines(["queue", "create", "lab", "--ahead", "1", "--machines", gone ?? "", stays ?? ""]);
  const job = `echo ran >> ~/ran; ${waitFor("$HOME/go").replaceAll("'", '"')}`;
  await service.lines(["enqueue", "lab", ...LITTLE, "-"], `${job}\n${job}\n`);
  const running = async () => (await service.jobs("lab")).filter(({ state }) => state === "running");
  await until("each machine runs one", async () => (await running()).length === 2);
  const lost = (await running()).find(({ machine }) => machine.startsWith("gone"));
  relays[0]?.refuse();
  relays[0]?.cut();
  await service.lines(["queue", "remove-machine", "lab", gone ?? ""]);
  writeFileSync(`${hosts[1]?.homeDir}/go`, "");
  await service.lines(["enqueue", "lab", ...LITTLE, "-"], `${job}\n${job}\n`);
  await until("the other machine has run the rest", async () => {
    const jobs = await service.jobs("lab");
    return jobs.filter(({ state }) => state === "succeeded").length === 3;
  });
  expect(readFileSync(`${hosts[1]?.homeDir}/ran`, "utf8")).toBe("ran\nran\nran\n");
  const name = `lab/${lost?.id}`;
  expect(await service.run(["stop", name])).toMatchObject({ code: 0 });
  const { state, reason } = await service.job(name);
  expect([state, reason]).toEqual(["stopped", expect.stringContaining("cannot be reached")]);
  await service.lines(["remove", name]);
  expect((await service.jobs("lab")).map(({ id }) => id)).not.toContain(lost?.id);
  // Once it is back, the job is ended there, and what comes of that is of no job.
  relays[0]?.accept();
  await until("nothing of it runs", () => pidsWithHome(hosts[0]?.homeDir ?? "-").length === 0, 60_000);
  expect(await service.run(["wait", "lab"])).toMatchObject({ code: 0 });
});

test("a queue is deleted whose machine is away: it takes no jobs, others are shown, and it is gone once the machine is back", async () => {
  const host = await startSshd({ name: "away" });
  const relay = await startRelay(host.port);
  cleanups.push(async () => {
    await relay.stop();
    await host.stop();
  });
  await service.lines(["serve"]);
  const file = await host.machineFile("max_jobs: 1", { port: relay.port });
  await service.lines(["queue", "create", "lab", "--machines", file]);
  const job = waitFor("$HOME/never").replaceAll("'", '"');
  await service.lines(["enqueue", "lab", ...LITTLE, "--", job]);
  await service.untilState("lab/1", "running");
  relay.refuse();
  relay.cut();
  const deleting = service.run(["queue", "delete", "lab", "--stop"]);
  expect(await service.untilState("lab/1", "stopped")).toMatchObject({
    reason: expect.stringContaining("cannot be reached"),
  });
  const { machines, jobs } = await service.json("/v1/state");
  expect(machines.map(({ queue }: { queue: string }) => queue)).toContain("lab");
  expect(jobs).toHaveLength(1);
  expect((await service.ask("/metrics")).status).toBe(200);
  const refused = { code: 2, stderr: expect.stringContaining("the queue lab is being deleted") };
  expect(await service.run(["enqueue", "lab", ...LITTLE, "--", "true"])).toMatchObject(refused);
  expect(await service.run(["queue", "resume", "lab"])).toMatchObject(refused);
  expect(await service.run(["queue", "delete", "lab", "--stop"])).toMatchObject(refused);
  expect(await service.run(["queue", "resume", "--all"])).toMatchObject({ code: 0 });
  relay.accept();
  expect(await deleting).toMatchObject({ code: 0, stdout: "deleted: lab\n" });
  const { queues } = await service.json("/v1/queues");
  expect(queues.map(({ name }: { name: string }) => name)).toEqual(["default"]);
  await until("nothing of it runs", () => pidsWithHome(host.homeDir).length === 0);
});

test("variables of a job leave the disk with the job", async () => {
  const SECRET = "hush-4711-hush";
  const shift = useClock();
  await serveHere();
  await service.add("default", ["--wait", "--env", `TOKEN=${SECRET}`], "true");
  const dir = service.note().state;
  const holding = () =>
    readdirSync(dir)
      .filter((name) => statSync(join(dir, name)).isFile())
      .filter((name) => readFileSync(join(dir, name)).includes(SECRET));
  expect(holding().length).toBeGreaterThan(0);
  // Variables of the last minute stay, in case a job that has them is being added.
  shift(3600);
  await service.lines(["remove", "default/1"]);
  expect(holding()).toEqual([]);
});

test("jobs beyond --keep-jobs leave with their results when the service starts, and newer ones stay", async () => {
  await service.lines(["serve"]);
  for (let n = 1; n <= 3; n++) await service.add("default", ["--wait"], `echo ${n}`);
  const dir = service.note().state;
  const results = () => readdirSync(join(dir, "results/default/job")).sort();
  await until("nothing of the jobs is with a machine", async () => {
    const journals = readdirSync(join(dir, "house/default/job_results/.sshoal"));
    return !journals.some((name) => name.endsWith(".jsonl"));
  });
  await service.lines(["serve", "stop"]);
  await service.lines(["serve", "--keep-jobs", "1"]);
  await until("one is left", async () => (await service.jobs("default")).length === 1);
  expect((await service.jobs("default"))[0]).toMatchObject({ id: 3, state: "succeeded" });
  await until("results have left, too", () => results().join() === "3,3.err,3.out");
});
