import { appendFile, rm } from "node:fs/promises";
import { PassThrough, Readable } from "node:stream";
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { follow } from "../../../../src/remote/spool/follow.js";
import type { KnownLog } from "../../../../src/remote/spool/log-stream.js";
import type { SpoolEvent } from "../../../../src/remote/spool/spool-event.js";
import type { ExecEnd } from "../../../../src/transport/session.js";
import { killAll, nameOf, pidsWithHome } from "../../../rig/processes.js";
import { until } from "../../../rig/until.js";
import { type LocalMachine, makeLocalMachine, pathWithout } from "../a-local-machine.js";

let machine: LocalMachine;

beforeEach(async () => {
  machine = await makeLocalMachine();
});
afterEach(() => machine.close());

function start(known: Readonly<Record<string, KnownLog>> = {}, awaitsSpool = false) {
  const seen: SpoolEvent[] = [];
  const logs: string[] = [];
  const lines = new Map(Object.entries(known));
  const aborting = new AbortController();
  const { place, session } = machine;
  const ended = follow(session, {
    place,
    known: lines,
    onLogs: (names) => logs.push(...names),
    onEvent: (event) => seen.push(event),
    awaitsSpool,
    signal: aborting.signal,
  });
  return { seen, logs, lines, ended, stop: () => aborting.abort() };
}

const log = (text: string, name = "events") => appendFile(machine.path(machine.spool, name), text);

/** The tools of this computer, and those of busybox. */
const TOOLS: [string, () => Promise<void>][] = [
  ["the usual tools", async () => {}],
  [
    "busybox",
    async () => {
      await machine.write("bin/tail", '#!/bin/sh\nexec busybox tail "$@"\n');
      await machine.write("bin/cat", '#!/bin/sh\nexec busybox cat "$@"\n');
      vi.stubEnv("PATH", `${machine.path("bin")}:${process.env.PATH}`);
      onTestFinished(() => void vi.unstubAllEnvs());
    },
  ],
];

describe.each(TOOLS)("with %s", (_, prepare) => {
  beforeEach(prepare);

  test("passes on the lines of each log and new ones, and counts them", async () => {
    await machine.write(`${machine.spool}/slots/0/events`, "idle 0\n");
    await machine.write(`${machine.spool}/slots/12/events`, "");
    await machine.write(`${machine.spool}/events.a.host.1`, "opened 1\n");
    const { seen, logs, lines, ended, stop } = start();
    await until("the first", () => seen.length === 2);
    expect(logs).toEqual(["events.a.host.1", "slots/0/events", "slots/12/events"]);
    await log("free", "events.a.host.1");
    await log("idle 12\n", "slots/12/events");
    await until("the next", () => seen.length === 3);
    await log("d 0000001-1\nidle 1\n", "events.a.host.1");
    await until("all", () => seen.length === 5);
    expect(seen).toEqual([
      { kind: "opened", number: 1 },
      { kind: "idle", slot: 0 },
      { kind: "idle", slot: 12 },
      { kind: "freed", key: "0000001-1" },
      { kind: "idle", slot: 1 },
    ]);
    expect(Object.fromEntries(lines)).toEqual({
      "events.a.host.1": { lines: 3, end: "idle 1" },
      "slots/0/events": { lines: 1, end: "idle 0" },
      "slots/12/events": { lines: 1, end: "idle 12" },
    });
    stop();
    await ended;
  });

  test("waits for a spool that is on its way, until all of its logs are there", async () => {
    await rm(machine.path(machine.spool), { recursive: true, force: true });
    const { seen, logs, ended, stop } = start({}, true);
    await machine.write(`${machine.spool}/slots/0/events`, "idle 0\n");
    await machine.write(`${machine.spool}/events.a.host.1`, "");
    await machine.write(`${machine.spool}/trees`, "");
    await until("the first", () => seen.length === 1);
    expect(logs).toEqual(["events.a.host.1", "slots/0/events"]);
    stop();
    await ended;
  });

  test("ends without output if the spool does not come", async () => {
    await rm(machine.path(machine.spool), { recursive: true, force: true });
    const { seen, logs, ended } = start({}, true);
    expect(await ended).not.toBeNull();
    expect([seen, logs]).toEqual([[], []]);
  });

  test("skips the known lines of each log, including lines that are no events", async () => {
    await machine.write(`${machine.spool}/events.h.1`, "idle 9\nfreed 0000");
    await machine.write(`${machine.spool}/slots/0/events`, "idle 0\nsomething né\n\nidle 1\n");
    await machine.write(`${machine.spool}/slots/1/events`, "idle 2\nidle 3\n");
    await machine.write(`${machine.spool}/slots/2/events`, "idle 4\nidle 5\n");
    const { seen, lines, ended, stop } = start({
      "events.h.1": { lines: 1, end: "9" },
      "slots/0/events": { lines: 3, end: "" },
      "slots/2/events": { lines: 2, end: "idle 5" },
      "$(touch pwned)": { lines: 1, end: "" },
    });
    await until("what is new", () => seen.length === 3);
    await log("001-1\n", "events.h.1");
    await log("idle 6\n", "slots/2/events");
    await until("what comes", () => seen.length === 5);
    expect(seen.map((event) => ("slot" in event ? event.slot : event.kind)).toSorted()).toEqual(
      [1, 2, 3, 6, "freed"].toSorted(),
    );
    const counts = ["events.h.1", "slots/0/events", "slots/2/events"].map((name) => lines.get(name)?.lines);
    expect(counts).toEqual([2, 4, 3]);
    stop();
    await ended;
  });

  test.each([
    ["is shorter", "idle 0\n"],
    ["is as long, with other lines", "idle 0\nidle 1\nidle 3\nidle 4\n"],
    ["is empty", ""],
  ])("ends if a log %s than is known", async (_how, text) => {
    await machine.write(`${machine.spool}/slots/0/events`, text);
    await machine.write(`${machine.spool}/slots/1/events`, "idle 9\n");
    const { seen, ended } = start({ "slots/0/events": { lines: 3, end: "idle '2'" } });
    expect(await ended).toMatch(/slots\/0\/events has lost lines$/);
    expect(seen).toEqual([]);
  });
});

test("the one log of a spool of format 1", async () => {
  await machine.write(`${machine.spool}/events`, "idle 0\n");
  const { seen, logs, ended, stop } = start();
  await until("the first", () => seen.length === 1);
  await log("draining\n");
  await until("the second", () => seen.length === 2);
  expect(seen).toEqual([
    { kind: "idle", slot: 0 },
    { kind: "draining", number: null },
  ]);
  expect(logs).toEqual(["events"]);
  stop();
  await ended;
});

test("a line that is too long is skipped and reported once; an event appended to it counts", async () => {
  const junk = "x".repeat(3 << 20);
  const text = `idle 0\n${junk}ended 0000001-1 0 0 12\nidle 1\n`;
  await machine.write(`${machine.spool}/events`, text);
  const { seen, ended, stop } = start();
  await until("the last", () => seen.length === 4);
  const outcome = { kind: "exited", code: 0 };
  expect(seen).toEqual([
    { kind: "idle", slot: 0 },
    { kind: "overlong" },
    { kind: "ended", key: "0000001-1", slot: 0, outcome, durationMs: 12, facts: new Map() },
    { kind: "idle", slot: 1 },
  ]);
  stop();
  await ended;
});

test("leaves no process, even if it was stopped before it began", async () => {
  await machine.write(`${machine.spool}/events`, "");
  const first = start();
  await until("tail is there", () => pidsWithHome(machine.dir).some((pid) => nameOf(pid) === "tail"));
  first.stop();
  await first.ended;
  const second = start();
  second.stop();
  await second.ended;
  await until("nothing is left", () => pidsWithHome(machine.dir).length === 0);
});

test("ends when tail is killed, and leaves no process", async () => {
  await machine.write(`${machine.spool}/events`, "idle 0\n");
  const { seen, ended } = start();
  await until("it follows", () => seen.length === 1);
  killAll(pidsWithHome(machine.dir).filter((pid) => nameOf(pid) === "tail"));
  await ended;
});

test("ends if there is no tail, with the reason", async () => {
  vi.stubEnv("PATH", pathWithout(machine, "tail"));
  onTestFinished(() => void vi.unstubAllEnvs());
  await machine.write(`${machine.spool}/events`, "idle 0\n");
  expect(await start().ended).toMatch(/tail: not found$/);
});

test("returns when there is no log", async () => {
  await machine.write(`${machine.spool}/settings`, "");
  expect(await start().ended).toMatch(/there is no event log in /);
});

test("a machine that sends no end of a line does not stop the client: following ends", async () => {
  const stdout = Readable.from([Buffer.alloc(1 << 20, "a"), Buffer.from("a"), Buffer.from("never read\n")]);
  const running = {
    stdin: new PassThrough(),
    stdout,
    stderr: Readable.from([]),
    ended: lost(),
    close: () => stdout.destroy(),
  };
  const following = {
    place: machine.place,
    known: new Map(),
    onEvent: () => {},
    signal: new AbortController().signal,
  };
  const ending = follow({ ...machine.session, exec: async () => running }, following);
  await expect(ending).rejects.toThrow("Premature close");
  expect(stdout.readableEnded).toBe(false);
});

async function lost(): Promise<ExecEnd> {
  return { kind: "lost", reason: "closed" };
}
