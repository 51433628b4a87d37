// A hand-over that fails at each of its steps: every job runs once, on this machine or on another.

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { LIGHT_NO_GPU, waitFor } from "../rig/batch.js";
import { type CommandResult, type LiveCommand, runCommand, spawnCommand } from "../rig/command.js";
import { type Fault, type FaultyHandOver, installFaultyHandOver } from "../rig/faulty-hand-over.js";
import { type Ledger, openLedger, sweep } from "../rig/ledger.js";
import { type Relay, startRelay } from "../rig/relay.js";
import { startSshd, type TestHost } from "../rig/sshd.js";
import { until } from "../rig/until.js";

let one: TestHost;
let two: TestHost;
let faulty: FaultyHandOver;
let relay: Relay;
let ledger: Ledger;

beforeAll(async () => {
  [one, two] = await Promise.all([startSshd({ name: "one" }), startSshd({ name: "two" })]);
  faulty = await installFaultyHandOver(one);
});
beforeEach(async () => {
  [relay, ledger] = await Promise.all([startRelay(one.port), openLedger()]);
  await faulty.reset();
});
afterEach(async () => {
  await faulty.letGo();
  await sweep(one, two);
  await relay.stop();
  await ledger.remove();
});
afterAll(async () => {
  await Promise.all([one?.stop(), two?.stop()]);
});

async function batchArgs(): Promise<string[]> {
  const machines = [await one.machineFile("max_jobs: 2", relay), await two.machineFile("max_jobs: 1")];
  return ["jobs.sh", "--machines", ...machines, ...LIGHT_NO_GPU];
}

const run = async () => runCommand(await batchArgs(), { cwd: ledger.work.dir });
const start = async () => spawnCommand(await batchArgs(), { cwd: ledger.work.dir });
const jobs = (count: number, what?: string) => Array.from({ length: count }, () => ledger.job(what));

const MOST_STEPS = 40;
/** For all steps of a hand-over, with a batch for each. */
const timeout = 400_000;

/** Each step in turn, until there is no such step. */
async function eachStep(turn: number, fault: Fault, attempt: () => Promise<CommandResult>): Promise<void> {
  for (let step = 1; step <= MOST_STEPS; step++) {
    await faulty.arm(turn, step, fault);
    const { code, stdout, stderr } = await attempt();
    const about = `step ${step} of ${faulty.steps(turn)}\n${stdout}${stderr}`;
    expect(await ledger.audit([one, two]), about).toEqual([]);
    expect(code, about).toBe(0);
    if (faulty.steps(turn).length < step) return;
    await faulty.reset();
    await ledger.remove();
    ledger = await openLedger();
  }
  throw new Error("there is no end to the steps");
}

describe("every job runs once if any step of the hand-over", () => {
  test.each<Fault>(["fails", "kills before", "kills after"])("%s", { timeout }, async (fault) => {
    await eachStep(1, fault, async () => {
      await ledger.write(jobs(9));
      return run();
    });
  });

  test("kills the shell, while earlier jobs run", { timeout }, async () => {
    await eachStep(2, "kills before", async () => {
      const earlier = jobs(4, waitFor(ledger.seen.path("go")));
      await ledger.write(earlier);
      const first = await start();
      await until("three of them run", async () => (await ledger.runs()).size === 3);
      first.child.kill("SIGKILL");
      await first.ended;
      await ledger.write([...earlier, ...jobs(8)]);
      const second = await start();
      await second.until(({ stdout }) => stdout().includes("resuming"));
      await ledger.seen.write("go", "");
      return second.ended;
    });
  });
});

/** It holds the lock, so another hand-over waits for it. */
const isInTheWay = () => /flock,mv$/.test(faulty.steps(1).join());

/** After everything else has ended: also the batch, and with it the spool. */
async function letGoLate({ child, ended }: LiveCommand): Promise<CommandResult> {
  await until("another hand-over waits, or all is over", () =>
    isInTheWay() ? faulty.steps(2).includes("flock") : child.exitCode !== null,
  );
  await faulty.letGo();
  return ended;
}

describe("every job runs once if any step of the hand-over hangs and finishes late", () => {
  test("the client is killed in the meantime, and the same command typed again", { timeout }, async () => {
    await eachStep(1, "hangs", async () => {
      await ledger.write(jobs(9));
      const first = await start();
      await until("it hangs", () => faulty.isHanging() || first.child.exitCode !== null);
      first.child.kill("SIGKILL");
      await first.ended;
      return letGoLate(await start());
    });
  });

  test("the connection is cut in the meantime", { timeout }, async () => {
    await eachStep(1, "hangs", async () => {
      await ledger.write(jobs(9));
      const client = await start();
      await until("it hangs", () => faulty.isHanging() || client.child.exitCode !== null);
      relay.cut();
      return letGoLate(client);
    });
  });
});
