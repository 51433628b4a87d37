// `sshoal retry`: runs jobs again with the settings they had; what they left moves aside.

import { type BatchHere, hintAtNames, loadBatches } from "../../batch/batches-here.js";
import { orderFor } from "../../batch/recorded-batch.js";
import { type ExitCode, UserError } from "../../errors.js";
import { outcomeAtHome } from "../../model/batch-state.js";
import { type JobId, succeeded } from "../../model/job.js";
import { Results } from "../../run/home/results.js";
import type { RetryOptions } from "../options/acting-commands.js";
import { readSurroundings } from "../read-surroundings.js";
import { lastingConnector } from "../terminal/connectors.js";
import { followHere } from "../terminal/follow-here.js";
import { note } from "../terminal/note.js";

export async function retry(options: RetryOptions): Promise<ExitCode> {
  const surroundings = readSurroundings();
  const results = new Results(surroundings.cwd);
  const { here, jobs } = choose(loadBatches(results), options.jobs);
  const order = await orderFor(here, results, surroundings, new Set(jobs));
  const connector = lastingConnector(surroundings, options, note);
  return followHere({ order, surroundings, options, connector });
}

function choose(
  batches: readonly BatchHere[],
  names: readonly string[],
): { here: BatchHere; jobs: number[] } {
  const isWanted = (here: BatchHere, id: JobId, name: string) =>
    names.length === 0 ? hasFailed(here, id) : names.includes(name);
  const wanted = batches
    .map((here) => ({
      here,
      jobs: here.jobs.filter(({ id, name }) => isWanted(here, id, name)).map(({ id }) => id),
    }))
    .filter(({ jobs }) => jobs.length > 0);
  const [first, ...others] = wanted;
  const known = new Set(batches.flatMap(({ jobs }) => jobs.map(({ name }) => name)));
  const unknown = names.find((name) => !known.has(name));
  if (unknown !== undefined) {
    throw new UserError(`there is no job ${unknown} here`, { hint: hintAtNames(unknown, [...known]) });
  }
  if (first === undefined) throw new UserError("no job here has failed", { hint: "sshoal status" });
  if (others.length === 0) return first;
  const scripts = wanted.map(({ here }) => here.script).join(", ");
  throw new UserError(`that would be jobs of several batches: ${scripts}`, { hint: "name the jobs of one" });
}

function hasFailed({ state }: BatchHere, id: JobId): boolean {
  const tracked = state.jobs.get(id);
  const outcome = tracked && outcomeAtHome(tracked);
  return !!outcome && !succeeded(outcome);
}
