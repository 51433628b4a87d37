// What users do with the machines of a queue: add, remove, drain, and open them again.

import type { MachineAct } from "../api/queue-service.js";
import { UserError } from "../errors.js";
import { localMachine } from "../input/machine/plain-machine.js";
import { suggest } from "../input/suggest.js";
import type { Queue } from "../model/queue.js";
import type { JoinedMachines } from "./joined/joined-machines.js";
import { keptOf } from "./kept-queue.js";
import type { House } from "./queue/generation-order.js";
import type { QueueRunner } from "./queue/queue-runner.js";
import { machinesOf, measureUnknown, parseCard } from "./queue-machines.js";
import type { ServiceParts } from "./running-queues.js";

export interface MachineActor extends ServiceParts<House & { readonly joined: JoinedMachines }> {
  readonly queue: Queue;
  readonly runner: QueueRunner;
}

type Asked = Pick<MachineAct, "verb" | "machine">;

export async function actOnMachine({ verb, machine }: Asked, actor: MachineActor): Promise<void> {
  const { db, ledger, house, queue, runner } = actor;
  const joined = queue.joined.filter((each) => each.name !== machine);
  if (verb === "remove" && joined.length < queue.joined.length) {
    await ledger.write(() => {
      db.queues.setSpec({ ...keptOf(queue), joined });
      db.machines.remove(queue.name, machine);
    });
    runner.windDown();
    // Its running jobs end first.
    return void runner.ended().then(() => dismiss(machine, actor));
  }
  if (verb === "add" || verb === "remove") {
    const after = { ...keptOf(queue), ...machinesAfter(queue, verb, machine) };
    const specs = await machinesOf(after, house);
    refuseTwice(specs, queue);
    await ledger.write(() => {
      db.queues.setSpec(after);
      forgetOthers(specs, queue, db);
    });
    await measureUnknown(after, specs, house);
    return runner.windDown();
  }
  await setDraining(machine, verb === "drain", actor);
}

function dismiss(machine: string, { db, house }: MachineActor): void {
  const isWanted = db.queues.all().some(({ joined }) => joined.some(({ name }) => name === machine));
  if (!isWanted) house.joined.dismiss(machine);
}

async function setDraining(machine: string, isDraining: boolean, actor: MachineActor): Promise<void> {
  const { db, ledger, house, queue, runner } = actor;
  const known = (await machinesOf(queue, house)).map((spec) => spec.name);
  const card = known.includes(machine) ? null : parseCard(machine);
  if (!known.includes(card?.machine ?? machine)) throw unknownMachine(queue, machine, known);
  await ledger.write((tell) => {
    db.machines.setDraining(queue.name, machine, isDraining);
    tell({ kind: isDraining ? "machine-draining" : "machine-opened", queue: queue.name, data: { machine } });
  });
  // Slots learn of cards only when they are made.
  if (card === null) await runner.setDraining(machine, isDraining);
  else runner.windDown();
  runner.wake();
}

type After = Pick<Queue, "machines"> & { readonly alsoHere: boolean };

/** A queue that names no machine uses this computer, and goes on with it when another machine is added. */
function machinesAfter(queue: Queue, verb: "add" | "remove", machine: string): After {
  const { machines, name, alsoHere = machines.length === 0 } = queue;
  if (verb === "add") return { machines: [...new Set([...machines, machine])], alsoHere };
  const here = alsoHere ? [localMachine().name] : [];
  const isHere = here.includes(machine) && !machines.includes(machine);
  if (!isHere && !machines.includes(machine)) throw unknownMachine({ name }, machine, [...here, ...machines]);
  if (here.length + machines.length === 1)
    throw new UserError(`${machine} is the last machine of the queue ${name}`, {
      hint: `sshoal queue pause ${name}, or add another machine first`,
    });
  return isHere
    ? { machines, alsoHere: false }
    : { machines: machines.filter((each) => each !== machine), alsoHere };
}

function refuseTwice(specs: readonly { readonly name: string }[], { name: queue }: Queue): void {
  const names = specs.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) < index);
  if (twice === undefined) return;
  throw new UserError(`the queue ${queue} has another machine named ${twice}`, {
    hint: "a machine file with another name, and host: in it",
  });
}

/** What is known of machines that the queue has no more, also that they are drained. */
function forgetOthers(
  specs: readonly { readonly name: string }[],
  { name: queue }: Queue,
  db: MachineActor["db"],
): void {
  const names = new Set(specs.map(({ name }) => name));
  for (const { machine } of db.machines.of(queue))
    if (!names.has(machine) && !names.has(parseCard(machine)?.machine ?? machine))
      db.machines.remove(queue, machine);
}

function unknownMachine({ name }: Pick<Queue, "name">, machine: string, known: readonly string[]): UserError {
  const [nearest] = suggest(machine, known);
  return new UserError(`the queue ${name} has no machine ${machine}`, {
    hint: nearest === undefined ? `its machines: ${known.join(", ") || "none"}` : `did you mean ${nearest}?`,
  });
}
