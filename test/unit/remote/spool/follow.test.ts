import { appendFile } from "node:fs/promises";
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { follow } from "../../../../src/remote/spool/follow.js";
import type { SpoolEvent } from "../../../../src/remote/spool/spool-event.js";
import { killAll, nameOf, pidsWithHome } from "../../../rig/processes.js";
import { until } from "../../../rig/until.js";
import { type LocalMachine, makeLocalMachine, pathWithout } from "../a-local-machine.js";

let machine: LocalMachine;

beforeEach(async () => {
  machine = await makeLocalMachine();
});
afterEach(() => machine.close());

function start(offset = 0) {
  const seen: [SpoolEvent, number][] = [];
  const aborting = new AbortController();
  const { place, session } = machine;
  const onEvent = (event: SpoolEvent, at: number) => void seen.push([event, at]);
  const ended = follow(session, { place, offset, onEvent, signal: aborting.signal });
  return { seen, ended, stop: () => aborting.abort() };
}

const log = (text: string) => appendFile(machine.path(machine.spool, "events"), text);

test("tells what is there and what comes, and where the log goes on after each", async () => {
  await machine.write(`${machine.spool}/events`, "idle 0\n");
  const { seen, ended, stop } = start();
  await until("the first", () => seen.length === 1);
  await log("free");
  await log("d 0000001-1\nidle 1\n");
  await until("all", () => seen.length === 3);
  expect(seen).toEqual([
    [{ kind: "idle", slot: 0 }, 7],
    [{ kind: "freed", key: "0000001-1" }, 23],
    [{ kind: "idle", slot: 1 }, 30],
  ]);
  stop();
  await ended;
});

test("goes on from an offset, past lines that are no events, whose bytes count", async () => {
  await machine.write(`${machine.spool}/events`, "idle 0\nsomething né\nidle 1\n");
  const { seen, ended, stop } = start(7);
  await until("the last", () => seen.length === 1);
  expect(seen).toEqual([[{ kind: "idle", slot: 1 }, 7 + Buffer.byteLength("something né\nidle 1\n")]]);
  stop();
  await ended;
});

test("a line that is too long is left out and reported once; an event appended to it counts", async () => {
  const junk = "x".repeat(3 << 20);
  const text = `idle 0\n${junk}ended 0000001-1 0 0 12\nidle 1\n`;
  await machine.write(`${machine.spool}/events`, text);
  const { seen, ended, stop } = start();
  await until("the last", () => seen.length === 4);
  const outcome = { kind: "exited", code: 0 };
  expect(seen).toEqual([
    [{ kind: "idle", slot: 0 }, 7],
    [{ kind: "overlong" }, 7],
    [{ kind: "ended", key: "0000001-1", slot: 0, outcome, durationMs: 12 }, text.length - 7],
    [{ kind: "idle", slot: 1 }, text.length],
  ]);
  stop();
  await ended;
});

test("leaves nothing running behind, also when it was told to stop before it began", async () => {
  await machine.write(`${machine.spool}/events`, "");
  const first = start();
  await until("tail is there", () => pidsWithHome(machine.dir).length >= 2);
  first.stop();
  await first.ended;
  const second = start();
  second.stop();
  await second.ended;
  await until("nothing is left", () => pidsWithHome(machine.dir).length === 0);
});

test("ends when tail is killed, and leaves nothing running behind", async () => {
  await machine.write(`${machine.spool}/events`, "idle 0\n");
  const { seen, ended } = start();
  await until("it follows", () => seen.length === 1);
  killAll(pidsWithHome(machine.dir).filter((pid) => nameOf(pid) === "tail"));
  await ended;
});

test("ends where there is no tail, with the reason", async () => {
  vi.stubEnv("PATH", pathWithout(machine, "tail"));
  onTestFinished(() => void vi.unstubAllEnvs());
  await machine.write(`${machine.spool}/events`, "idle 0\n");
  expect(await start().ended).toMatch(/tail: not found$/);
});

test("returns when there is no log", async () => {
  await start().ended;
});
