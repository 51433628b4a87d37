// Finds what batches left on machines, and removes what is no longer needed.

import { localMachine } from "../../input/machine/plain-machine.js";
import {
  type CleaningPlan,
  decideCleaning,
  restSeconds,
  type Verdict,
  type Wishes,
} from "../../plan/what-to-clean.js";
import { findLeftOver, type Removed, removeLeftOver } from "../../remote/spool/leftovers.js";
import type { Session } from "../../transport/session.js";
import type { Connector } from "../connector.js";
import { type BatchHere, describeHolder, findBatch } from "../find/batches-here.js";
import { type Reached, type ReachedMachine, reach } from "../machine/reach.js";

/** `words`: the batches to remove, collected or not; none: all without anything to collect. */
export function wishesFor(words: readonly string[], here: readonly BatchHere[]): Wishes {
  return {
    named: new Set(words.map((word) => findBatch(here, word)?.batch ?? word)),
    followed: new Map(
      here.flatMap(({ batch, holder }) =>
        holder === null ? [] : [[batch, `followed by ${describeHolder(holder)}`] as const],
      ),
    ),
  };
}

/** Each machine once, over all batches; without any batch, this computer. */
export function placesOf(batches: readonly BatchHere[]): ReachedMachine[] {
  const machines = batches.flatMap((batch) => [...batch.machines.values()]);
  const places = new Map(
    machines.map((machine) => [JSON.stringify([machine.address, machine.scratch]), machine]),
  );
  return places.size === 0 ? [localMachine()] : [...places.values()];
}

export interface PlacesToClean {
  readonly places: readonly ReachedMachine[];
  readonly wishes: Wishes;
  readonly isDryRun: boolean;
  readonly connect: Connector;
}

/** All at once; an unreachable machine does not delay the others. */
export function cleanPlaces({ places, wishes, isDryRun, connect }: PlacesToClean): Promise<CleanedPlace[]> {
  return Promise.all(
    places.map(async (machine): Promise<CleanedPlace> => {
      const reached = await reach(machine, connect, (session, signal) =>
        cleanOne(session, { scratch: machine.scratch, wishes, isDryRun, signal }),
      );
      return { machine: machine.name, reached };
    }),
  );
}

export interface CleanedPlace {
  readonly machine: string;
  readonly reached: Reached<Cleaned>;
}

interface Cleaned {
  readonly plan: CleaningPlan;
  /** Null: nothing was to be removed, only shown. */
  readonly removed: ReadonlyMap<string, Removed> | null;
}

interface Cleaning {
  readonly scratch: string | null;
  readonly wishes: Wishes;
  readonly isDryRun: boolean;
  readonly signal: AbortSignal;
}

async function cleanOne(session: Session, { scratch, wishes, isDryRun, signal }: Cleaning): Promise<Cleaned> {
  const plan = decideCleaning(await findLeftOver(session, scratch, signal), wishes);
  if (isDryRun) return { plan, removed: null };
  const isToGo = ({ verdict }: { verdict: Verdict }) => verdict.kind === "remove";
  const removal = {
    scratch,
    batches: plan.batches
      .filter(isToGo)
      .map(({ batch: { name } }) => ({ name, isForced: wishes.named.has(name) })),
    trees: plan.trees
      .filter(isToGo)
      .map(({ tree }) => ({ name: tree.name, minAgeSeconds: restSeconds(tree) })),
  };
  return { plan, removed: await removeLeftOver(session, removal, signal) };
}
