// Runs the script of a hand-over with each of its steps failing: what it or the machine reports about a job must be
// true. A job that is back at the client never runs on the machine, and any other one runs once.

import { mkdirSync } from "node:fs";
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { Control } from "../../../src/remote/spool/control.js";
import { type HandOver, handOver, NothingArrived } from "../../../src/remote/spool/hand-over.js";
import { takeBack } from "../../../src/remote/spool/take-back.js";
import { shippingOf } from "../../../src/remote/tree/shipping.js";
import { scanTree } from "../../../src/remote/tree/tree.js";
import { type Fault, type FaultyHandOver, installFaultyHandOver } from "../../rig/faulty-hand-over.js";
import { pidsWithHome } from "../../rig/processes.js";
import { until } from "../../rig/until.js";
import { makeWorkspace } from "../../rig/workspace.js";
import { anOrder, type LocalMachine, makeLocalMachine, never } from "./a-local-machine.js";

const A = "0000001-1";
const B = "0000002-1";
const EARLIER = "0000003-1";
const LATER = "0000004-1";
const MOST_STEPS = 40;

let machine: LocalMachine;
let faulty: FaultyHandOver;

async function open(): Promise<void> {
  machine = await makeLocalMachine();
  const binDir = machine.path("bin");
  mkdirSync(binDir);
  faulty = await installFaultyHandOver({ dir: machine.dir, binDir });
  vi.stubEnv("PATH", `${binDir}:${process.env.PATH}`);
}

async function close(): Promise<void> {
  vi.unstubAllEnvs();
  await faulty.letGo();
  await machine.close();
}

beforeEach(open);
afterEach(close);

/** The tree that every hand-over carries. */
let carried: Pick<HandOver, "tree" | "carried"> | undefined;

/** Each notes that it ran, where it has the files of its tree. */
const jobs = (...keys: string[]) => {
  const isReady = carried === undefined ? "true" : "grep -qx content d/file";
  return Object.fromEntries(keys.map((key) => [key, `${isReady} && echo ${key} >>"$HOME/ran"`]));
};
const give = (...keys: string[]) => handOver(machine.session, anOrder(machine, jobs(...keys), carried));
const askBack = (...keys: string[]) =>
  takeBack(machine.session, { place: machine.place, keys, signal: never });
const ran = async () => (await machine.read("ran").catch(() => "")).split("\n").slice(0, -1).toSorted();

async function giveAndWait(...keys: string[]): Promise<void> {
  await give(...keys);
  for (const key of keys) await machine.untilEvent(`ended ${key}`);
}

/** After a further hand-over, every job that a slot could take has run. */
async function runAll(): Promise<void> {
  await giveAndWait(LATER);
  await until("all is quiet", () => pidsWithHome(machine.dir).length === 0);
}

/** Each step in turn, on a new machine, until there is no such step. */
async function eachStep(turn: number, fault: Fault, attempt: (step: string) => Promise<void>): Promise<void> {
  for (let step = 1; step <= MOST_STEPS; step++) {
    // If a later hand-over fails, this is the first one.
    if (turn === 2) await giveAndWait(EARLIER);
    await faulty.arm(turn, step, fault);
    await attempt(`step ${step}, ${fault}`);
    const isOver = faulty.steps(turn).length < step;
    await close();
    await open();
    if (isOver) return;
  }
  throw new Error("there is no end to the steps");
}

describe.each([
  ["the first hand-over", 1, false],
  ["the first hand-over with a tree", 1, true],
  ["a later hand-over", 2, false],
])("%s", (_, turn, carries) => {
  const before = turn === 2 ? [EARLIER] : [];

  beforeAll(async () => {
    if (!carries) return;
    const work = await makeWorkspace({ "d/file": "content\n" });
    const tree = await scanTree(work.dir, ["."]);
    carried = { tree, carried: shippingOf(tree).carried() };
    return async () => {
      carried = undefined;
      await work.remove();
    };
  });

  test.each<Fault>(["fails", "kills before", "kills after"])("whichever step %s", async (fault) => {
    await eachStep(turn, fault, async (step) => {
      const failure = await give(A, B).then(
        ({ missing }) => missing,
        (error: Error) => error,
      );
      const isAnswered = Array.isArray(failure) || failure instanceof NothingArrived;
      const { taken, begun } = isAnswered ? { taken: [], begun: [] } : await askBack(A, B);
      const absent = Array.isArray(failure) ? failure : failure instanceof NothingArrived ? [A, B] : taken;
      if (!isAnswered) expect([...taken, ...begun].toSorted(), step).toEqual([A, B]);
      await runAll();
      const there = [A, B].filter((key) => !absent.includes(key));
      expect(await ran(), step).toEqual([...there, ...before, LATER]);
    });
  });

  test("whichever step hangs: jobs that were taken back in the meantime do not arrive late", async () => {
    await eachStep(turn, "hangs", async (step) => {
      const late = give(A, B).catch(() => undefined);
      await until("it hangs, or is through", () => faulty.isHanging() || isThrough(late));
      const { taken, begun } = await askBack(A, B);
      expect([...taken, ...begun].toSorted(), step).toEqual([A, B]);
      await faulty.letGo();
      await late;
      await runAll();
      expect(await ran(), step).toEqual([...begun.toSorted(), ...before, LATER]);
    });
  });

  test("whichever step hangs: jobs that were handed over again, done and freed do not arrive late", async () => {
    await eachStep(turn, "hangs", async (step) => {
      const late = give(A, B).catch(() => undefined);
      await until("it hangs, or is through", () => faulty.isHanging() || isThrough(late));
      const again = giveAndWait(A, B);
      // A hand-over that hangs while it puts jobs into place blocks another one.
      await until(
        "that is through, or waits",
        () => isThrough(again) || faulty.steps(turn + 1).includes("flock"),
      );
      if (!isThrough(again)) await faulty.letGo();
      await again;
      const control = await Control.open(machine.session, machine.place);
      await control.free([A, B]);
      control.close();
      await faulty.letGo();
      await late;
      await runAll();
      expect(await ran(), step).toEqual([A, B, ...before, LATER]);
    });
  });
});

const through = new WeakSet<Promise<unknown>>();
const watched = new WeakSet<Promise<unknown>>();

/** True if the promise is settled, as far as was seen. */
function isThrough(promise: Promise<unknown>): boolean {
  const note = () => void through.add(promise);
  if (!watched.has(promise)) promise.then(note, note);
  watched.add(promise);
  return through.has(promise);
}
