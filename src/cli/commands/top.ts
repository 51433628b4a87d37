// `sshoal top`: shows what every machine has free, and who uses it, until the person leaves. In a pipe, once.

import type { Connector, LastingConnector } from "../../batch/connector.js";
import { loadAnyBatches } from "../../batch/find/batches-here.js";
import type { ReachedMachine } from "../../batch/machine/reach.js";
import { lookAtRoom, machinesOf, watchRoom } from "../../batch/machine/watch-room.js";
import { machinesFor } from "../../batch/surroundings.js";
import { ExitCode } from "../../errors.js";
import type { RoomLook } from "../../model/room-look.js";
import { capacityJson } from "../../report/lines/capacity-json.js";
import { jsonLine } from "../../report/lines/json-lines.js";
import { type Abilities, abilitiesOf } from "../../report/live/abilities.js";
import { TopView } from "../../report/live/top-view.js";
import type { RoomOrder } from "../../report/tables/room-table.js";
import { Results } from "../../run/home/results.js";
import type { TopOptions } from "../options/top-options.js";
import { readSurroundings } from "../read-surroundings.js";
import { lastingConnector } from "../terminal/connectors.js";
import { KeyScreen } from "../terminal/key-screen.js";
import { note } from "../terminal/note.js";
import { printRoom } from "../terminal/print-room.js";
import { WayOut } from "../terminal/way-out.js";

const ORDERS: ReadonlyMap<string, RoomOrder> = new Map([
  ["m", "memory"],
  ["u", "use"],
  ["w", "who"],
]);

export async function top(options: TopOptions): Promise<ExitCode> {
  const surroundings = readSurroundings();
  const machines =
    options.machines.length > 0
      ? await machinesFor(options, surroundings)
      : machinesOf(loadAnyBatches(new Results(surroundings.cwd)));
  const lasting = lastingConnector(surroundings, options, note);
  const { isTTY = false, columns, rows } = process.stdout;
  const abilities = abilitiesOf({ isTTY, columns, rows, env: process.env });
  if (abilities.canRedraw && !options.isJson) return watch(machines, lasting, abilities);
  const looks = await lookAtRoom({ machines, connect: lasting.connect, now: Date.now });
  if (options.isJson) process.stdout.write(looks.map((look) => `${topJson(look)}\n`).join(""));
  else printRoom(looks);
  return looks.some(({ kind }) => kind === "seen") ? ExitCode.Success : ExitCode.NoMachine;
}

async function watch(
  machines: readonly ReachedMachine[],
  { fleet, audience }: LastingConnector,
  abilities: Abilities,
): Promise<ExitCode> {
  const connect: Connector = async (machine, signal) => (await fleet.borrow(machine, signal)).session;
  const wayOut = new WayOut();
  const names = machines.map(({ name }) => name);
  const view = new TopView({ machines: names, stream: process.stdout, now: Date.now, ...abilities });
  const onKey = (key: string) => {
    const order = ORDERS.get(key);
    if (order !== undefined) view.sortBy(order);
  };
  const screen = new KeyScreen({ view, onKey, onLeave: (how) => wayOut.leave(how) });
  audience.view = screen;
  audience.onNote = (message) => view.note(message);
  try {
    const onLook = (look: RoomLook) => view.show(look);
    await Promise.all([
      watchRoom({ machines, connect, now: Date.now, onLook }, wayOut.signal),
      aborted(wayOut.signal),
    ]);
    return wayOut.code;
  } finally {
    screen.close();
    view.close();
    wayOut.close();
  }
}

/** Machines that are not tried again do not end the view. */
function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}

/** As in the objects of `sshoal probe`. */
function topJson(look: RoomLook): string {
  const { machine } = look;
  if (look.kind === "seen")
    return jsonLine({ v: 1, machine, kind: "probed", capacity: capacityJson(look.capacity) });
  const { reason, hint } = look.kind === "unreachable" ? look : { reason: "", hint: null };
  return jsonLine({ v: 1, machine, kind: "failed", reason, hint });
}
