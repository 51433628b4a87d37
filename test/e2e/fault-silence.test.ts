// Keepalives detect a connection that becomes silent. The command sends one every 15 s; this is the same run with
// shorter ones.

import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { Fleet } from "../../src/fleet/fleet.js";
import type { RunEvent } from "../../src/model/event.js";
import { countJobs } from "../../src/plan/run-state.js";
import type { BatchRun } from "../../src/run/batch-run.js";
import { waitFor } from "../rig/batch.js";
import { connectFrom } from "../rig/connect.js";
import { type Ledger, openLedger, sweep } from "../rig/ledger.js";
import { type Relay, startRelay } from "../rig/relay.js";
import { startRunHere } from "../rig/run-here.js";
import { startSshd, type TestHost } from "../rig/sshd.js";
import { until } from "../rig/until.js";

let host: TestHost;
let relay: Relay;
let ledger: Ledger;
let events: RunEvent[];

beforeAll(async () => {
  host = await startSshd({ name: "one" });
});
beforeEach(async () => {
  [relay, ledger] = await Promise.all([startRelay(host.port), openLedger()]);
  events = [];
});
afterEach(async () => {
  relay.resume();
  await sweep(host);
  await relay.stop();
  await ledger.remove();
});
afterAll(() => host?.stop());

async function start(): Promise<BatchRun> {
  const homeDir = ledger.seen.path("home");
  await ledger.seen.write(
    "home/.ssh/config",
    "ServerAliveInterval 1\nServerAliveCountMax 1\nConnectTimeout 1\n",
  );
  const connect = connectFrom(homeDir);
  return startRunHere({
    dir: ledger.work.dir,
    homeDir,
    machineFile: await host.machineFile("max_jobs: 2", relay),
    fleet: new Fleet(({ address }, signal) => connect(address, signal)),
    onEvent: (event) => events.push(event),
  });
}

const count = (kind: RunEvent["kind"]) => events.filter((event) => event.kind === kind).length;

test("while jobs run: the client notices, and reconnects when the connection works again", async () => {
  await ledger.write(Array.from({ length: 5 }, () => ledger.job(waitFor(ledger.seen.path("go")))));
  const run = await start();
  const finished = run.finish();
  await until("two run", () => count("job-started") === 2);
  relay.pause();
  await until("that is noticed", () => count("machine-lost") > 0);
  await ledger.seen.write("go", "");
  await until("all run meanwhile", async () => (await ledger.runs()).size === 5);
  expect(count("job-ended")).toBe(0);
  // Attempts to reconnect meet the same silence.
  const before = relay.connections();
  await until("it tries", () => relay.connections() > before);
  relay.resume();
  expect(countJobs(await finished)).toEqual({
    succeeded: 5,
    failed: 0,
    stopped: 0,
    lost: 0,
    unfinished: 0,
    skipped: 0,
  });
  expect(await ledger.audit([host])).toEqual([]);
});

test("while results are collected: half of them are never mistaken for all", async () => {
  await ledger.write([ledger.job("head -c 30000000 /dev/urandom > big.bin; sha256sum big.bin > sum")]);
  const run = await start();
  const finished = run.finish();
  await until("it is being collected", () => count("job-ended") === 1);
  relay.pause();
  await until("that is noticed", () => count("machine-lost") > 0);
  expect(count("job-collected")).toBe(0);
  relay.resume();
  expect(countJobs(await finished).succeeded).toBe(1);
});
