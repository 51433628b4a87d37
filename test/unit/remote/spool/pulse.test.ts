import { afterEach, beforeEach, expect, test } from "vitest";
import { Control } from "../../../../src/remote/spool/control.js";
import { handOver } from "../../../../src/remote/spool/hand-over.js";
import { parsePulse, takePulse } from "../../../../src/remote/spool/pulse.js";
import { entriesBelow } from "../../../rig/entries-below.js";
import { killAll, pidsWithHome } from "../../../rig/processes.js";
import { until } from "../../../rig/until.js";
import { anOrder, type LocalMachine, makeLocalMachine, never } from "../a-local-machine.js";

const A = "5000000000001-1-1";
const B = "5000000000002-2-1";
const C = "5000000000003-3-1";
const LONG = 'until [ -e "$HOME/go" ]; do sleep 0.05; done';

let machine: LocalMachine;
beforeEach(async () => {
  machine = await makeLocalMachine();
});
afterEach(() => machine.close());

const pulse = (sent: string[] | null = null) => takePulse(machine.session, machine.place, sent, never);

test("a slot that runs a job lives; when all is done nothing does", async () => {
  await handOver(machine.session, anOrder(machine, { [A]: LONG, [B]: "true" }));
  await machine.untilEvent(`started ${A}`);
  expect(await pulse([])).toMatchObject({ isStill: false, missing: [] });
  expect((await pulse())?.logs).toContain("slots/0/events");
  await machine.write("go", "");
  await machine.untilEvent("idle 0");
  await until("nothing lives", async () => (await pulse())?.isStill);
});

test("after a reboot, or a kill of everything, nothing lives although a job has not ended", async () => {
  await handOver(machine.session, anOrder(machine, { [A]: LONG }));
  await machine.untilEvent(`started ${A}`);
  await until("all are gone", () => {
    killAll(pidsWithHome(machine.dir));
    return pidsWithHome(machine.dir).length === 0;
  });
  expect(await pulse([])).toMatchObject({ isStill: true, missing: [] });
});

test("attempts that never came, or were taken back, will not begin; looking changes nothing", async () => {
  await handOver(machine.session, anOrder(machine, { [A]: "true", [B]: "true" }, { slots: 0 }));
  const control = await Control.open(machine.session, machine.place);
  await control.takeBack([B]);
  control.close();
  const before = await entriesBelow(machine.path(".sshoal"));
  expect(await pulse([A, C])).toMatchObject({ isStill: true, missing: [C, B] });
  expect(await pulse()).toMatchObject({ isStill: true, missing: [] });
  expect(await entriesBelow(machine.path(".sshoal"))).toEqual(before);
});

test("a machine without the batch has no pulse", async () => {
  expect(await pulse([A])).toBe(null);
  expect(parsePulse([])).toBe(null);
  expect(parsePulse(["logs", "alive 0", "taken x", "absent ../y"])).toEqual({
    logs: [],
    isStill: true,
    missing: [],
  });
});
