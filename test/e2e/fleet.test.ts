// Several batches in one process: those on one machine share one connection.

import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { Fleet } from "../../src/fleet/fleet.js";
import type { RunEvent } from "../../src/model/event.js";
import { countJobs } from "../../src/plan/run-state.js";
import type { BatchRun } from "../../src/run/batch-run.js";
import { waitFor } from "../rig/batch.js";
import { connectFrom } from "../rig/connect.js";
import { sweep } from "../rig/ledger.js";
import { type Relay, startRelay } from "../rig/relay.js";
import { startRunHere } from "../rig/run-here.js";
import { startSshd, type TestHost } from "../rig/sshd.js";
import { until } from "../rig/until.js";
import { makeWorkspace, type Workspace } from "../rig/workspace.js";

let host: TestHost;
let relay: Relay;
let seen: Workspace;
let fleet: Fleet;
let begun: Begun[];

interface Begun {
  readonly work: Workspace;
  readonly run: BatchRun;
  readonly events: RunEvent[];
  readonly finished: Promise<unknown>;
}

beforeAll(async () => {
  host = await startSshd({ name: "one" });
});
beforeEach(async () => {
  [relay, seen] = await Promise.all([startRelay(host.port), makeWorkspace()]);
  await seen.write("home/.ssh/config", "ConnectTimeout 2\n");
  const connect = connectFrom(seen.path("home"));
  fleet = new Fleet(({ address }, signal) => connect(address, signal));
  begun = [];
});
afterEach(async () => {
  for (const { run, finished } of begun) {
    run.abandon(new Error("the test is over"));
    await finished.catch(() => {});
  }
  await sweep(host);
  await relay.stop();
  for (const { work } of begun) await work.remove();
  await seen.remove();
});
afterAll(() => host?.stop());

/** A batch of one job that waits until a file of this name exists. */
async function begin(name: string): Promise<Begun> {
  const work = await makeWorkspace({ "jobs.sh": `${waitFor(seen.path(name))}\n` });
  const events: RunEvent[] = [];
  const run = await startRunHere({
    dir: work.dir,
    homeDir: seen.path("home"),
    machineFile: await host.machineFile("max_jobs: 50", relay),
    fleet,
    onEvent: (event) => events.push(event),
  });
  const finished = run.finish();
  finished.catch(() => {});
  const batch = { work, run, events, finished };
  begun.push(batch);
  return batch;
}

const has = ({ events }: Begun, kind: RunEvent["kind"]) => events.some((event) => event.kind === kind);
const isRunning = (batch: Begun) => until("its job runs", () => has(batch, "job-started"));
const succeededIn = async ({ run, finished }: Begun) => {
  await finished;
  return countJobs(run.state).succeeded;
};

test("two batches use one connection, which the first to end leaves and the last one closes", async () => {
  const [one, two] = await Promise.all([begin("one"), begin("two")]);
  await Promise.all([isRunning(one), isRunning(two)]);
  expect(relay.connections()).toBe(1);
  expect(host.log().match(/Accepted publickey/g)).toHaveLength(1);
  await seen.write("one", "");
  expect(await succeededIn(one)).toBe(1);
  expect(has(two, "machine-lost")).toBe(false);
  expect(relay.open()).toBe(1);
  await seen.write("two", "");
  expect(await succeededIn(two)).toBe(1);
  expect(has(two, "machine-lost")).toBe(false);
  expect(relay.connections()).toBe(1);
  await until("it is closed", () => relay.open() === 0);
});

test("leaving one batch does not end what another one follows", async () => {
  const [one, two] = [await begin("one"), await begin("two")];
  await Promise.all([isRunning(one), isRunning(two)]);
  one.run.abandon(new Error("left"));
  await expect(one.finished).rejects.toThrow("left");
  await seen.write("two", "");
  expect(await succeededIn(two)).toBe(1);
  expect(has(two, "machine-lost")).toBe(false);
});

test("both batches notice a cut connection, and one new connection serves both", async () => {
  const [one, two] = [await begin("one"), await begin("two")];
  await Promise.all([isRunning(one), isRunning(two)]);
  relay.cut();
  await until("both are back", () => [one, two].every((batch) => has(batch, "machine-back")));
  expect(relay.connections()).toBe(2);
  await Promise.all([seen.write("one", ""), seen.write("two", "")]);
  expect([await succeededIn(one), await succeededIn(two)]).toEqual([1, 1]);
});

test("more batches than a connection has channels for get another connection", async () => {
  const names = ["1", "2", "3", "4", "5", "6", "7"];
  const batches: Begun[] = [];
  for (const name of names) batches.push(await begin(name));
  await until("each has its job there", () => batches.every((batch) => has(batch, "jobs-handed-over")));
  expect(relay.connections()).toBe(3);
  for (const name of names) await seen.write(name, "");
  for (const batch of batches) expect(await succeededIn(batch)).toBe(1);
});
