// Gives a machine no more jobs, or gives it jobs again: through the client that follows the batch, or directly on the
// machine.

import { posix } from "node:path";
import { olderNames } from "../../model/machine.js";
import type { Results } from "../../run/home/results.js";
import type { Connector } from "../connector.js";
import { type BatchHere, heldErrorOf } from "../find/batches-here.js";
import { reachFollower } from "../follower/ask-follower.js";
import { type ReachedMachine, withControl } from "./reach.js";

export interface Draining {
  readonly here: BatchHere;
  readonly machine: string;
  readonly verb: "drain" | "undrain";
}

/** What the batch calls the machine, typed with or without the end of its file's name, or by its path; null: it has no jobs there. */
export function machineOf(here: BatchHere, typed: string): string | null {
  const names = [typed, posix.basename(typed)].flatMap((name) => [name, `${name}.yaml`, `${name}.yml`]);
  return names.find((name) => concernsMachine(here, name)) ?? null;
}

/** The machines of a batch that can be drained. */
export function drainableMachines(here: BatchHere): string[] {
  return [...here.machines.keys()].filter((name) => concernsMachine(here, name));
}

/** True if the batch has jobs there, or a client that may give it some. */
function concernsMachine({ machines, state, holder }: BatchHere, name: string): boolean {
  return namesOf(name).some(
    (each) => machines.has(each) && (holder !== null || state.machines.get(each)?.hasSpool),
  );
}

/** Throws UserError if the machine cannot be reached, or if the follower refuses. */
export async function drainMachine(
  { here, machine, verb }: Draining,
  results: Results,
  connect: Connector,
): Promise<void> {
  const follower = await reachFollower(results, here.stem);
  if (follower === null) {
    const spools = spoolsOn(here, machine);
    if (spools.length === 0) throw heldErrorOf(results, here.stem);
    for (const each of spools) await withControl(each, here.batch, connect, (control) => control[verb]());
    return;
  }
  try {
    await follower.ask({ kind: verb, machine });
  } finally {
    follower.close();
  }
}

function spoolsOn({ machines, state }: BatchHere, name: string): ReachedMachine[] {
  return namesOf(name).flatMap((each) => {
    const machine = machines.get(each);
    return machine !== undefined && state.machines.get(each)?.hasSpool ? [machine] : [];
  });
}

function namesOf(name: string): string[] {
  return [name, ...olderNames(name)];
}
