// The machines of a queue: their descriptions with what the queue declares, and what was measured of each.

import { reach } from "../batch/machine/reach.js";
import { machinesFor, type Surroundings } from "../batch/surroundings.js";
import { UserError } from "../errors.js";
import type { Fleet } from "../fleet/fleet.js";
import { localMachine, plainMachine } from "../input/machine/plain-machine.js";
import { kindOf, type Requirement } from "../model/job.js";
import type { Capacity, MachineSpec } from "../model/machine.js";
import type { Capacities, JoinedMachine, KeptQueue, Queue, QueueSpec } from "../model/queue.js";
import { formatCapacity } from "../plan/queue/format-capacity.js";
import { pinningResource, pooledNeed, pooledResources } from "../plan/queue/queue-need.js";
import { judgeKinds } from "../plan/slots/kinds.js";
import { whyNever } from "../plan/slots/why-never.js";
import { probe } from "../remote/probe/probe.js";

/** What is known of the machines of all queues. It is kept by the caller. */
interface Measured {
  capacityOf(queue: string, machine: string): Capacity | null;
  /** By index: a user has drained them. */
  drainedCards(queue: string, machine: string): readonly number[];
  /** Known when it resolves, unless the disk is full. */
  note(queue: string, machine: string, capacity: Capacity): Promise<void>;
}

export interface MachineMeans {
  readonly surroundings: Surroundings;
  readonly fleet: Fleet;
  readonly measured: Measured;
  /** Machines that dial in. */
  readonly joined: { isHere(name: string): boolean };
  /** False: queues that name no machine do not use this computer. */
  readonly usesThisComputer: boolean;
}

/** Read again each time, so that an edited machine file counts. Throws UserError. */
export async function machinesOf(queue: KeptQueue, means: MachineMeans): Promise<MachineSpec[]> {
  const { measured, usesThisComputer, surroundings } = means;
  const { machines, joined = [], joinedOnly = false, alsoHere = false } = queue;
  const isHere = !joinedOnly && usesThisComputer && (machines.length === 0 || alsoHere);
  const areNamed = !joinedOnly && machines.length > 0;
  const named = areNamed ? await machinesFor({ machines, configFile: null }, surroundings) : [];
  const specs = [...(isHere ? [localMachine()] : []), ...named, ...joined.map(joinedSpec)];
  const isMixed = !isAllLocal(specs);
  return specs.map((spec) => {
    const hasCards = (measured.capacityOf(queue.name, spec.name)?.gpus.length ?? 0) > 0;
    const own = joined.find(({ name }) => isJoined(spec) && name === spec.name)?.capacity;
    const resources = {
      ...spec.resources,
      ...resourcesOf(queue, own ?? {}, hasCards),
      ...(isMixed && spec.address.kind === "local" && pinningResource(queue.name)),
    };
    const { maxJobs } = queue;
    const drained = measured.drainedCards(queue.name, spec.name);
    return {
      ...spec,
      excludeGpus: [...new Set([...spec.excludeGpus, ...drained])],
      ...(Object.keys(resources).length > 0 && { resources }),
      ...(hasCards && declaredCards(queue, spec)),
      ...(maxJobs !== null && { mostSlots: Math.min(maxJobs, spec.mostSlots ?? maxJobs) }),
    };
  });
}

/** What a machine declares comes before what its queue declares; its other resources are its own. */
function resourcesOf(
  { name, capacity, pool = name }: KeptQueue,
  own: Capacities,
  hasCards: boolean,
): Capacities {
  const isPooled = (resource: string) => Object.hasOwn(capacity ?? {}, resource);
  const [pooled, others] = [true, false].map((wanted) =>
    Object.fromEntries(Object.entries(own).filter(([resource]) => isPooled(resource) === wanted)),
  );
  return {
    ...others,
    ...pooledResources({ name, capacity: { ...capacity, ...pooled }, pool }, hasCards),
  };
}

function joinedSpec({ name }: JoinedMachine): MachineSpec {
  return plainMachine(name, { kind: "joined", name });
}

function isJoined({ address }: Pick<MachineSpec, "address">): boolean {
  return address.kind === "joined";
}

/** It has joined, and its link is lost. */
export function isAway(
  { name, address }: Pick<MachineSpec, "name" | "address">,
  { joined }: Pick<MachineMeans, "joined">,
): boolean {
  return address.kind === "joined" && !joined.isHere(name);
}

/** A queue that declares two cards of four uses the first two. */
function declaredCards({ capacity }: QueueSpec, { gpus }: MachineSpec): Pick<MachineSpec, "gpus"> | null {
  const declared = Object.keys(capacity?.gpu ?? {}).map(Number);
  if (declared.length === 0 || !declared.every(Number.isInteger)) return null;
  return { gpus: gpus?.filter((index) => declared.includes(index)) ?? declared };
}

/** `gpu1:0`: a card of a machine. Null: it is no such word. */
export function parseCard(word: string): { readonly machine: string; readonly card: number } | null {
  const [, machine, card] = /^(.+):(\d{1,4})$/.exec(word) ?? [];
  return machine === undefined ? null : { machine, card: Number(card) };
}

/** True if its jobs run on this computer only, where they have the environment of their shell. */
export function isAllLocal(specs: readonly Pick<MachineSpec, "address">[]): boolean {
  return specs.length > 0 && specs.every(({ address }) => address.kind === "local");
}

export function hasCards(queue: string, specs: readonly MachineSpec[], { measured }: MachineMeans): boolean {
  return specs.some(({ name }) => (measured.capacityOf(queue, name)?.gpus.length ?? 0) > 0);
}

/** Measures machines that were never measured. One that does not answer stays unknown. */
export async function measureUnknown(
  queue: QueueSpec,
  specs: readonly MachineSpec[],
  means: MachineMeans,
): Promise<void> {
  const unknown = specs.filter(({ name }) => means.measured.capacityOf(queue.name, name) === null);
  await measureAll(queue, unknown, means);
}

/** Machines that are away are left out. */
export async function measureAll(
  queue: QueueSpec,
  specs: readonly MachineSpec[],
  means: MachineMeans,
): Promise<void> {
  const { fleet, measured } = means;
  const connect = (spec: Pick<MachineSpec, "address">, signal: AbortSignal) =>
    fleet.borrow(spec, signal).then(({ session }) => session);
  const reachable = specs.filter((spec) => !isAway(spec, means));
  await Promise.all(
    reachable.map(async (spec) => {
      const reached = await reach(spec, connect, (session, signal) =>
        probe(session, { bases: ["~/.sshoal"] }, signal),
      );
      if (reached.kind === "reached") await measured.note(queue.name, spec.name, reached.answer);
    }),
  );
}

/** Throws UserError if no machine of the queue can ever run it. A machine that was never measured might. */
export function refuseImpossible(
  queue: Queue,
  need: Requirement,
  specs: readonly MachineSpec[],
  means: MachineMeans,
): void {
  // Machines may join later.
  if (specs.length === 0) return;
  const requirement = pooledNeed(need, queue, hasCards(queue.name, specs, means));
  const kinds = new Map([[kindOf(requirement), requirement]]);
  const reasons: string[] = [];
  for (const spec of specs) {
    const capacity = means.measured.capacityOf(queue.name, spec.name);
    if (capacity === null) return;
    const { serves, short } = judgeKinds({ spec, capacity, requirement, kinds });
    if (serves.length > 0) return;
    reasons.push(`${spec.name}: ${whyNever(capacity, short).replaceAll(`@${queue.pool ?? queue.name}`, "")}`);
  }
  const { capacity } = queue;
  throw new UserError(`no machine of the queue ${queue.name} can ever run this: ${reasons.join("; ")}`, {
    hint:
      capacity === null
        ? "ask for less with --require, or sshoal queue list"
        : `ask for what the queue declares: ${formatCapacity(capacity)}`,
  });
}
