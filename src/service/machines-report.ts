// The machines of a queue, as reports show them.

import { machinePhase, runningOn } from "../api/machine-facts.js";
import type { QueueMachine } from "../api/queue-service.js";
import { localMachine } from "../input/machine/plain-machine.js";
import type { Queue } from "../model/queue.js";
import { awayWords } from "./joined/joined-machines.js";
import type { House } from "./queue/generation-order.js";
import { parseCard } from "./queue-machines.js";
import type { RunningQueue } from "./running-queues.js";
import type { KnownMachine } from "./store/machine-rows.js";
import type { ServiceDatabase } from "./store/open-database.js";

export function machinesReport(
  queue: Queue,
  { runner, obstacle }: RunningQueue,
  { db, house }: { readonly db: ServiceDatabase; readonly house: Pick<House, "joined" | "usesThisComputer"> },
): QueueMachine[] {
  const rows = db.machines.of(queue.name);
  const known = new Map(
    rows.flatMap((each) => (isDrainedCard(each, rows) ? [] : [[each.machine, each] as const])),
  );
  const states = runner.generations.flatMap(({ state }) => [...state.machines.values()]);
  const names = new Set([
    ...runner.specs.flatMap(({ name, address }) => (address.kind === "joined" ? [] : [name])),
    ...queue.joined.map(({ name }) => name),
    // This computer may have served the queue before --no-local.
    ...[...known.keys()].filter((name) => house.usesThisComputer || name !== localMachine().name),
    ...states.map(({ name }) => name),
  ]);
  return [...names].map((machine) => {
    const own = states.filter(({ name }) => name === machine);
    const last = own.at(-1);
    const isLost = queue.joined.some(({ name }) => name === machine) && !house.joined.isHere(machine);
    return {
      queue: queue.name,
      machine,
      phase: isLost ? "unreachable" : last === undefined ? "unused" : machinePhase(last),
      isDraining: known.get(machine)?.isDraining ?? false,
      capacity: known.get(machine)?.capacity ?? null,
      slots: last?.slots ?? 0,
      running: own.flatMap(runningOn),
      reason: isLost ? awayWords(machine) : obstacle(),
    };
  });
}

/** Its machine has a row of its own. */
function isDrainedCard({ machine }: KnownMachine, rows: readonly KnownMachine[]): boolean {
  const card = parseCard(machine);
  return card !== null && rows.some((each) => each.machine === card.machine);
}
