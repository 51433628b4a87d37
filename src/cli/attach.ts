// `sshoal attach`: goes on with a batch, also on a computer that has never seen it.

import { type ExitCode, UserError } from "../errors.js";
import { loadMachines } from "../input/load.js";
import { Results } from "../run/results.js";
import type { AttachOptions } from "./acting-commands.js";
import { type BatchHere, chooseBatch, findBatch, loadBatches } from "./batches-here.js";
import { followBatch } from "./follow-batch.js";
import { rebuildRecord } from "./rebuild-record.js";
import { orderFor } from "./recorded-batch.js";
import { readSurroundings, type Surroundings } from "./surroundings.js";

export async function attach(options: AttachOptions): Promise<ExitCode> {
  const surroundings = readSurroundings();
  const results = new Results(surroundings.cwd);
  const here = await findOrRebuild(options, results, surroundings);
  const order = await orderFor(here, results, surroundings, "none");
  return followBatch({ order, surroundings, reporting: options });
}

async function findOrRebuild(
  { batch, machines }: AttachOptions,
  results: Results,
  surroundings: Surroundings,
): Promise<BatchHere> {
  if (machines.length > 0) {
    if (batch === null)
      throw new UserError("which batch?", { hint: "sshoal attach BATCH --machines a.yaml" });
    if (findBatch(results.isThere() ? loadBatches(results) : [], batch) === null) {
      await results.prepare();
      await rebuildRecord(batch, await loadMachines(machines, surroundings), results, surroundings);
    }
  }
  const batches = loadBatches(results);
  if (batch !== null) return chooseBatch(batches, batch);
  const [only, ...others] = batches.filter(({ state }) => hasWork(state));
  if (only !== undefined && others.length === 0) return only;
  if (only === undefined) throw new UserError("every batch here is done", { hint: "sshoal status" });
  const names = [only, ...others].map((each) => each.batch).join(", ");
  throw new UserError(`which batch? There are ${names}`, { hint: `sshoal attach ${only.batch}` });
}

function hasWork({ jobs, machines }: BatchHere["state"]): boolean {
  const open = ["waiting", "queued", "running", "ended"];
  return (
    [...jobs.values()].some(({ kind }) => open.includes(kind)) ||
    [...machines.values()].some((machine) => machine.hasSpool)
  );
}
