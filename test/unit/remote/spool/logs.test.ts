// Every slot and every control channel has its own event log. Several of them at the same time lose no line.

import { readdirSync } from "node:fs";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Control } from "../../../../src/remote/spool/control.js";
import { handOver } from "../../../../src/remote/spool/hand-over.js";
import { readLog } from "../../../../src/remote/spool/read-log.js";
import { until } from "../../../rig/until.js";
import { anOrder, type LocalMachine, makeLocalMachine, never } from "../a-local-machine.js";
import { HOST } from "../a-spool.js";

let machine: LocalMachine;
let controls: Control[];

beforeEach(async () => {
  machine = await makeLocalMachine();
  controls = [];
});
afterEach(async () => {
  for (const control of controls) control.close();
  await machine.close();
});

const keyOf = (index: number) => `5${String(index).padStart(12, "0")}-${index}-1`;
const keys = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => keyOf(from + index));
const spool = (path: string) => machine.path(machine.spool, path);
const linesOf = async (log: string) => (await machine.read(`${machine.spool}/${log}`)).trim().split("\n");

async function openControls(count: number): Promise<void> {
  for (let index = 0; index < count; index++)
    controls.push(await Control.open(machine.session, machine.place));
}

test("eight slots and four control channels: each log has one writer, and no line is missing", async () => {
  const quick = keys(1, 65);
  const long = keys(65, 105);
  const jobs = Object.fromEntries([
    ...quick.map((key) => [key, "true"]),
    ...long.map((key) => [key, 'until [ -e "$HOME/go" ]; do sleep 0.05; done']),
  ]);
  await handOver(machine.session, anOrder(machine, jobs, { slots: 8 }));
  await openControls(4);
  await until("the quick ones have ended", async () => {
    const log = (await readLog(machine.session, machine.place, never)) ?? [];
    return log.filter(({ kind }) => kind === "ended").length === quick.length;
  });
  // All at once, each with its own jobs: ended ones, and waiting or running ones.
  await Promise.all(
    controls.flatMap((control, which) => [
      control.free(quick.slice(which * 16, which * 16 + 16)),
      control.stop(long.slice(which * 10, which * 10 + 10)),
      control.drain(),
    ]),
  );
  await until("all loops are gone", async () => {
    const loops = await Promise.all(
      [0, 1, 2, 3, 4, 5, 6, 7].map((index) => machine.read(`${machine.spool}/slots/${index}/loop`)),
    );
    return loops.every((loop) => loop === "");
  });
  const log = (await readLog(machine.session, machine.place, never)) ?? [];
  const keysOf = (kind: string) =>
    log.flatMap((event) => (event.kind === kind && "key" in event ? [event.key] : []));
  expect(keysOf("ended").toSorted()).toEqual([...quick, ...long]);
  expect(keysOf("freed").toSorted()).toEqual(quick);
  expect(log.filter(({ kind }) => kind === "draining")).toEqual(
    Array(4).fill({ kind: "draining", number: 1 }),
  );
  for (let slot = 0; slot < 8; slot++)
    for (const line of await linesOf(`slots/${slot}/events`))
      expect(line).toMatch(new RegExp(`^((started|ended) \\S+ ${slot}\\b|(idle|waiting) ${slot}\\b)`));
  for (const which of [1, 2, 3, 4]) {
    const freed = (await linesOf(`events.${HOST}.${which}`)).filter((line) => line.startsWith("freed"));
    expect(freed).toHaveLength(16);
  }
});

test("a log whose writer is gone is used by the next writer, on a new line", async () => {
  await handOver(machine.session, anOrder(machine, {}));
  await machine.write(`${machine.spool}/events.${HOST}.1`, "freed 500000");
  await openControls(2);
  await controls[0]?.drain();
  await controls[1]?.drain();
  expect(await linesOf(`events.${HOST}.1`)).toEqual(["freed 500000", "draining 1"]);
  expect(await linesOf(`events.${HOST}.2`)).toEqual(["draining 1"]);
  controls[0]?.close();
  await until("the next one has that log", async () => {
    const [control] = [await Control.open(machine.session, machine.place)];
    await control.drain();
    control.close();
    return (await linesOf(`events.${HOST}.1`)).length > 2;
  });
  expect((await linesOf(`events.${HOST}.1`)).slice(1).every((line) => line === "draining 1")).toBe(true);
});

test("drains are counted over all logs", async () => {
  await handOver(machine.session, anOrder(machine, {}));
  await openControls(2);
  await controls[0]?.drain();
  await handOver(machine.session, anOrder(machine, {}));
  await controls[1]?.drain();
  await controls[0]?.drain();
  const log = (await readLog(machine.session, machine.place, never)) ?? [];
  const found = log.flatMap((event) =>
    event.kind === "draining" || event.kind === "opened" ? [`${event.kind} ${event.number}`] : [],
  );
  expect(found.toSorted()).toEqual(["draining 1", "draining 2", "draining 2", "opened 1"]);
});

test("a spool of format 1 keeps its single log, which is still read and written", async () => {
  await handOver(machine.session, anOrder(machine, { [keyOf(1)]: "true" }, { slots: 0 }));
  for (const name of readdirSync(spool(".")).filter((each) => each.startsWith("events.")))
    await machine.session.exec(`rm "$HOME/${machine.spool}/${name}"`).then(({ ended }) => ended);
  await machine.write(`${machine.spool}/events`, "freed 0000009-1\n");
  await openControls(1);
  expect(await controls[0]?.look()).toEqual(["events"]);
  await controls[0]?.stop([keyOf(1)]);
  expect(await linesOf("events")).toEqual(["freed 0000009-1", `ended ${keyOf(1)} 0 stopped 0`]);
  expect(await controls[0]?.absent(["0000009-1", "0000008-1"])).toEqual(["0000008-1"]);
});
