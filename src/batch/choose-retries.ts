// Which jobs of which batch are run again. Pure.

import { UserError } from "../errors.js";
import { outcomeAtHome } from "../model/batch-state.js";
import { type JobId, succeeded } from "../model/job.js";
import { type BatchHere, hintAtNames } from "./batches-here.js";

export interface Retrying {
  readonly here: BatchHere;
  readonly jobs: readonly JobId[];
}

/** `names`: of jobs; none: all that failed. Throws UserError when there is none, and for jobs of several batches. */
export function chooseToRetry(batches: readonly BatchHere[], names: readonly string[]): Retrying {
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
