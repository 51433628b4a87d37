// `sshoal attach`: goes on with a batch, also on a computer that has never seen it.

import { type BatchHere, chooseBatch, findBatch, loadBatches } from "../../batch/batches-here.js";
import type { Connector } from "../../batch/connector.js";
import { rebuildRecord } from "../../batch/rebuild-record.js";
import { orderFor } from "../../batch/recorded-batch.js";
import { machinesFor, type Surroundings } from "../../batch/surroundings.js";
import { type ExitCode, UserError } from "../../errors.js";
import { standingOf } from "../../model/batch-state.js";
import { Results } from "../../run/home/results.js";
import type { AttachOptions } from "../options/acting-commands.js";
import { readSurroundings } from "../read-surroundings.js";
import { lastingConnector } from "../terminal/connectors.js";
import { followHere } from "../terminal/follow-here.js";
import { note } from "../terminal/note.js";

export async function attach(options: AttachOptions): Promise<ExitCode> {
  const surroundings = readSurroundings();
  const results = new Results(surroundings.cwd);
  const connector = lastingConnector(surroundings, options, note);
  const here = await findOrRebuild(options, { results, surroundings, connect: connector.connect });
  const order = await orderFor(here, results, surroundings, "none");
  return followHere({ order, surroundings, options, connector });
}

interface Means {
  readonly results: Results;
  readonly surroundings: Surroundings;
  readonly connect: Connector;
}

async function findOrRebuild(options: AttachOptions, means: Means): Promise<BatchHere> {
  const { results, surroundings, connect } = means;
  const { batch } = options;
  if (options.machines.length > 0) {
    if (batch === null) throw new UserError("which batch?", { hint: "sshoal attach BATCH --machines gpu1" });
    if (findBatch(results.isThere() ? loadBatches(results) : [], batch) === null) {
      const machines = await machinesFor(options, surroundings);
      await results.prepare();
      await rebuildRecord({ batch, machines, results, connect });
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

const OPEN: ReadonlySet<string> = new Set(["waiting", "assigned", "sent", "queued", "running", "ended"]);

function hasWork({ jobs, machines }: BatchHere["state"]): boolean {
  return (
    [...jobs.values()].some((tracked) => OPEN.has(standingOf(tracked).kind)) ||
    [...machines.values()].some((machine) => machine.hasSpool)
  );
}
