// What users see of a job, and do with it, in moments that are short: the service inside the test's own process.

import { mkdir } from "node:fs/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Fleet } from "../../src/fleet/fleet.js";
import type { Act, Enqueue } from "../../src/model/queue.js";
import { JoinedMachines } from "../../src/service/joined/joined-machines.js";
import { ServiceCore } from "../../src/service/service-core.js";
import { openDatabase, type ServiceDatabase } from "../../src/service/store/open-database.js";
import { waitFor } from "../rig/batch.js";
import { connectFrom } from "../rig/connect.js";
import { killAll, pidsWithHome } from "../rig/processes.js";
import { until } from "../rig/until.js";
import { makeWorkspace, type Workspace } from "../rig/workspace.js";

const QUEUE = "default";
const NEED = { cpus: 0.01, memoryMb: 1, gpu: null, reservesMachine: false };
let work: Workspace;
let core: ServiceCore;
let db: ServiceDatabase;
const bugs: unknown[] = [];

beforeEach(async () => {
  work = await makeWorkspace();
  const homeDir = work.path("home");
  const dir = work.path("service");
  for (const each of [homeDir, dir]) await mkdir(each, { mode: 0o700 });
  const connect = connectFrom(homeDir);
  const about = { pid: process.pid, username: "test", computer: "here", agentSocket: null };
  const surroundings = { ...about, cwd: work.dir, homeDir, cacheDir: null, stateDir: null, socketDirs: [] };
  db = await openDatabase(dir);
  const measured = {
    capacityOf: (queue: string, machine: string) =>
      db.machines.of(queue).find((each) => each.machine === machine)?.capacity ?? null,
    drainedCards: () => [],
    note: async () => {},
  };
  const fleet = new Fleet(({ address }, signal) => connect(address, signal));
  const onBug = (error: unknown) => void bugs.push(error);
  const joined = new JoinedMachines();
  const house = { surroundings, fleet, dir, measured, joined, usesThisComputer: true, onBug };
  core = await ServiceCore.open({ db, house, capacity: null });
});
afterEach(async () => {
  await core.close();
  killAll(pidsWithHome(work.path("home")));
  await work.remove();
  expect(bugs.splice(0)).toEqual([]);
});

const enqueue = async (command: string, terms = {}) => {
  const job = { command, need: NEED, cwd: work.dir, terms };
  const { ids } = await core.enqueue({ queue: QUEUE, jobs: [job] } as unknown as Enqueue);
  return ids[0] as number;
};
const stateOf = (id: number) => core.job(QUEUE, id).state;

/** Resolves when the queue has taken the job, with this verb in the same transaction. */
async function actWhileTaken(act: Pick<Act, "verb" | "priority">): Promise<number> {
  const first = await enqueue(waitFor(work.path("go")));
  await until("the queue gives jobs at once", () => stateOf(first) === "running");
  const turnsOf = (id: number) => db.jobs.findWithInside(QUEUE, id)?.inside.turns;
  const id = await enqueue("echo ran >ran");
  // What follows the answer of enqueue is done before the next transaction.
  for (let hop = 0; hop < 100; hop++) await null;
  expect(turnsOf(id)).toBe(0);
  await core.act({ ...act, queue: QUEUE, ids: [id] } as Act);
  // The record may not have it any more.
  expect(turnsOf(id) ?? 1).toBe(1);
  return id;
}

/** Later jobs run, so this one would have, too. */
async function runAnother(): Promise<void> {
  const other = await enqueue("true");
  await work.write("go", "");
  await until("another job has run", () => stateOf(other) === "succeeded");
}

test("a job that is stopped while the queue takes it does not run", async () => {
  const id = await actWhileTaken({ verb: "stop" });
  await runAnother();
  expect(stateOf(id)).toBe("stopped");
  await expect(work.read("ran")).rejects.toThrow("ENOENT");
});

test("a job that is held while the queue takes it waits until it is released", async () => {
  const id = await actWhileTaken({ verb: "hold" });
  await runAnother();
  expect(stateOf(id)).toBe("waiting");
  await expect(work.read("ran")).rejects.toThrow("ENOENT");
  await core.act({ verb: "release", queue: QUEUE, ids: [id] });
  await until("it has run", () => stateOf(id) === "succeeded");
});

test("a job that is removed while the queue takes it does not run", async () => {
  const id = await actWhileTaken({ verb: "remove" });
  await runAnother();
  expect(() => stateOf(id)).toThrow(`there is no job ${QUEUE}/${id}`);
  await expect(work.read("ran")).rejects.toThrow("ENOENT");
});

test("a job that runs once more is never seen as failed, also before its results are here", async () => {
  const id = await enqueue("echo ran >>ran; test $(wc -l <ran) -ge 3", { retries: 2 });
  const seen = new Set<string>();
  const look = setInterval(() => {
    const counts = core.queues()[0]?.counts;
    seen.add(stateOf(id)).add(counts?.failed ? "counted as failed" : "not counted");
  }, 1);
  await until("it is over", () => !["waiting", "running", "failed"].includes(stateOf(id)));
  clearInterval(look);
  expect([...seen].sort()).toEqual(["not counted", "running", "succeeded", "waiting"]);
});
