// Finds the batch to resume: by its record or, if there is none, by what its machines have of it.

import { UserError } from "../../errors.js";
import { standingOf } from "../../model/standing.js";
import { hasOnlyKept } from "../../plan/kept-dirs.js";
import type { Results } from "../../run/home/results.js";
import type { Connector } from "../connector.js";
import { type MachineChoice, machinesFor, type Surroundings } from "../surroundings.js";
import { type BatchHere, chooseBatch, findBatch, loadBatches } from "./batches-here.js";
import { rebuildRecord } from "./rebuild-record.js";

export interface Means {
  readonly results: Results;
  readonly surroundings: Surroundings;
  readonly connect: Connector;
}

export interface BatchChoice extends MachineChoice {
  /** Its name or script; null: the one that has work left. */
  readonly batch: string | null;
}

/** Asks machines for a batch without a local record. Throws UserError if there is no such batch, or more than one. */
export async function openBatch(choice: BatchChoice, means: Means): Promise<BatchHere> {
  const { results, surroundings, connect } = means;
  const { batch } = choice;
  if (choice.machines.length > 0) {
    if (batch === null) throw new UserError("which batch?", { hint: "sshoal attach BATCH --machines gpu1" });
    if (findBatch(results.isThere() ? loadBatches(results) : [], batch) === null) {
      const machines = await machinesFor(choice, surroundings);
      await results.prepare();
      await rebuildRecord({ batch, machines, results, connect });
    }
  }
  const batches = loadBatches(results);
  if (batch !== null) return chooseBatch(batches, batch);
  const [only, ...others] = batches.filter(({ state }) => hasWork(state));
  if (only !== undefined && others.length === 0) return only;
  if (only === undefined) throw nothingLeft(batches);
  const names = [only, ...others].map((each) => each.batch).join(", ");
  throw new UserError(`which batch? There are ${names}`, { hint: `sshoal attach ${only.batch}` });
}

function nothingLeft(batches: readonly BatchHere[]): UserError {
  const isAnyStopped = batches.some(({ state }) => state.tally.stopped > 0);
  return isAnyStopped
    ? new UserError("every job here is done or stopped", {
        hint: "sshoal retry --state stopped runs stopped jobs again",
      })
    : new UserError("every batch here is done", { hint: "sshoal status" });
}

const OPEN: ReadonlySet<string> = new Set(["waiting", "assigned", "sent", "queued", "running", "ended"]);

function hasWork({ jobs, machines }: BatchHere["state"]): boolean {
  return (
    [...jobs.values()].some((tracked) => OPEN.has(standingOf(tracked).kind)) ||
    [...machines.values()].some((machine) => machine.hasSpool && !hasOnlyKept(machine))
  );
}
