import { writeFileSync } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Fleet } from "../../../../src/fleet/fleet.js";
import { Control } from "../../../../src/remote/spool/control.js";
import { handOver } from "../../../../src/remote/spool/hand-over.js";
import type { SpoolEvent } from "../../../../src/remote/spool/spool-event.js";
import type { OutputFiles } from "../../../../src/run/home/output-files.js";
import type { Known } from "../../../../src/run/verbs/known.js";
import { MachineLink } from "../../../../src/run/verbs/machine-link.js";
import { OutputPoller } from "../../../../src/run/verbs/output-poller.js";
import { tellSpoolEvent } from "../../../../src/run/verbs/telling.js";
import { pidsWithHome } from "../../../rig/processes.js";
import { until } from "../../../rig/until.js";
import { aSpec } from "../../plan/a-machine.js";
import { anOrder, type LocalMachine, makeLocalMachine } from "../../remote/a-local-machine.js";

let machine: LocalMachine;

beforeEach(async () => {
  machine = await makeLocalMachine();
});
afterEach(() => machine.close());

async function openLink() {
  const link = new MachineLink(
    { spec: aSpec(), place: machine.place, pastSlots: null, pastCapacity: null, older: [] },
    new Fleet(async () => machine.session),
  );
  const lost: string[] = [];
  await link.open((reason) => lost.push(reason));
  return { link, lost };
}

test("a log that is created later is followed as well, and no event is passed on twice", async () => {
  const log = (name: string, text: string) => machine.write(`${machine.spool}/${name}`, text);
  await log("slots/0/events", "idle 0\n");
  await log("events.host.1", "");
  const { link, lost } = await openLink();
  const seen: SpoolEvent[] = [];
  link.follow((event) => seen.push(event));
  await until("it is followed", () => seen.length === 1);
  await log("events.host.2", "draining 1\n");
  link.noteLogs(["events.host.1", "slots/0/events"]);
  link.noteLogs(["events.host.1", "events.host.2", "slots/0/events"]);
  await until("the new log is followed", () => seen.length === 2);
  expect(seen).toEqual([
    { kind: "idle", slot: 0 },
    { kind: "draining", number: 1 },
  ]);
  expect(lost).toEqual([]);
  await link.close();
});

test("the log of a slot that another slot added is followed at once", async () => {
  const log = (name: string, text: string) => machine.write(`${machine.spool}/${name}`, text);
  await log("slots/0/events", "added 0 1\n");
  await mkdir(machine.path(machine.spool, "slots/1"), { recursive: true });
  const { link, lost } = await openLink();
  const { outputs, known, emit } = { outputs: {} as OutputFiles, known: {} as Known, emit: () => {} };
  const listener = { known, link, poller: new OutputPoller(link, outputs, emit), emit };
  const seen: SpoolEvent[] = [];
  link.follow((event) => {
    seen.push(event);
    // It comes after the client found all logs.
    if (event.kind === "added") writeFileSync(machine.path(`${machine.spool}/slots/1/events`), "idle 1\n");
    tellSpoolEvent(listener, event);
  });
  await until("the new log is followed", () => seen.length === 2);
  expect(seen).toEqual([
    { kind: "added", slot: 0, added: 1 },
    { kind: "idle", slot: 1 },
  ]);
  expect(lost).toEqual([]);
  listener.poller.stop();
  await link.close();
});

test("a spool that is on its way is followed as soon as it is there", async () => {
  await rm(machine.path(machine.spool), { recursive: true, force: true });
  const { link, lost } = await openLink();
  const seen: SpoolEvent[] = [];
  link.follow((event) => seen.push(event), true);
  expect(link.hasSpool).toBe(false);
  await machine.write(`${machine.spool}/slots/0/events`, "idle 0\n");
  await machine.write(`${machine.spool}/trees`, "");
  await until("it is followed", () => seen.length === 1);
  expect(link.hasSpool).toBe(true);
  expect(lost).toEqual([]);
  await link.close();
});

test("a spool that does not come costs no session, and is followed later", async () => {
  await rm(machine.path(machine.spool), { recursive: true, force: true });
  const ended: Promise<unknown>[] = [];
  const { exec } = machine.session;
  machine.session.exec = async (script) => {
    const running = await exec.call(machine.session, script);
    ended.push(running.ended);
    return running;
  };
  const { link, lost } = await openLink();
  const seen: SpoolEvent[] = [];
  link.follow((event) => seen.push(event), true);
  await until("it waits", () => ended.length === 1);
  await ended[0];
  await machine.write(`${machine.spool}/slots/0/events`, "idle 0\n");
  link.noteSpool(true);
  await until("it is followed", () => {
    link.follow((event) => seen.push(event));
    return seen.length === 1;
  });
  expect(lost).toEqual([]);
  await link.close();
});

describe("a control channel that is opened while jobs are on their way", () => {
  const give = () => handOver(machine.session, anOrder(machine, { "0000001-1": "true" }));
  const isThrough = async () => {
    await machine.untilEvent("idle 0");
  };

  test("holds the batch once they are there, and serves", async () => {
    const { link, lost } = await openLink();
    link.controlAhead("me");
    await give();
    const control = await link.control();
    expect(link.takeHolder()).toMatchObject({ isOurs: true });
    expect(link.takeHolder()).toBeNull();
    expect((await machine.read(`${machine.spool}/held-by`)).trim()).toBe("me");
    expect(await control.look()).toContain("slots/0/events");
    await isThrough();
    expect(lost).toEqual([]);
    await link.close();
  });

  test("reports another client that holds the batch", async () => {
    await give();
    const other = await Control.open(machine.session, machine.place);
    await other.hold("another");
    const { link, lost } = await openLink();
    link.controlAhead("me");
    await link.control();
    expect(link.takeHolder()).toMatchObject({ isOurs: false, name: "another" });
    await isThrough();
    expect(lost).toEqual([]);
    other.close();
    await link.close();
  });

  test("ends without consequences if they are refused: another one serves later", async () => {
    const { link, lost } = await openLink();
    link.controlAhead("me");
    link.giveUpAhead();
    await give();
    const control = await link.control();
    expect(link.takeHolder()).toBeNull();
    expect(await control.hold("me")).toMatchObject({ isOurs: true });
    await isThrough();
    expect(lost).toEqual([]);
    await link.close();
  });

  test("ends without consequences if they take too long", async () => {
    const ended: Promise<unknown>[] = [];
    const { exec } = machine.session;
    machine.session.exec = async (script) => {
      const running = await exec.call(machine.session, script);
      ended.push(running.ended);
      return running;
    };
    const { link, lost } = await openLink();
    link.controlAhead("me");
    await until("it waits", () => ended.length === 1);
    await ended[0];
    await give();
    expect(await (await link.control()).hold("me")).toMatchObject({ isOurs: true });
    await isThrough();
    expect(lost).toEqual([]);
    await link.close();
  });

  test("ends with the link", async () => {
    const { link } = await openLink();
    link.controlAhead("me");
    await link.close();
    await until("no process is left", () => pidsWithHome(machine.dir).length === 0);
  });
});
