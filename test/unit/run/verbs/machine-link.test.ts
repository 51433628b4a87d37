import { rm } from "node:fs/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Fleet } from "../../../../src/fleet/fleet.js";
import type { SpoolEvent } from "../../../../src/remote/spool/spool-event.js";
import { MachineLink } from "../../../../src/run/verbs/machine-link.js";
import { until } from "../../../rig/until.js";
import { aSpec } from "../../plan/a-machine.js";
import { type LocalMachine, makeLocalMachine } from "../../remote/a-local-machine.js";

let machine: LocalMachine;

beforeEach(async () => {
  machine = await makeLocalMachine();
});
afterEach(() => machine.close());

async function openLink() {
  const link = new MachineLink(
    { spec: aSpec(), place: machine.place, pastSlots: null, pastCapacity: null, older: null },
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
