// Chooses which jobs of which batch run again. Pure.

import { UserError } from "../errors.js";
import { outcomeAtHome, wordOf } from "../model/batch-state.js";
import type { Job, JobId } from "../model/job.js";
import type { BatchHere } from "./batches-here.js";
import { chooseJobs, type JobChoice } from "./choose-jobs.js";

export interface Retrying {
  readonly here: BatchHere;
  readonly jobs: readonly JobId[];
}

/** Throws UserError for jobs that have not ended, and for jobs of several batches. */
export function chooseToRetry(batches: readonly BatchHere[], choice: JobChoice): Retrying {
  const [first, ...others] = chooseJobs(batches, choice);
  if (first === undefined) throw new UserError("which jobs?");
  if (others.length > 0) {
    const stems = [first, ...others].map(({ here }) => here.stem);
    throw new UserError(`that would be jobs of several batches: ${stems.join(", ")}`, {
      hint: `name the batch, too: ${stems[0]}`,
    });
  }
  const { here, jobs } = first;
  const open = jobs.filter((job) => !isOver(here, job));
  if (open[0] !== undefined) throw openError(here, open[0], open.length);
  return { here, jobs: jobs.map(({ id }) => id) };
}

function isOver({ state }: BatchHere, { id }: Job): boolean {
  const tracked = state.jobs.get(id);
  return tracked !== undefined && (tracked.fate.kind === "stopped" || outcomeAtHome(tracked) !== undefined);
}

function openError({ state }: BatchHere, { id, name }: Job, count: number): UserError {
  const tracked = state.jobs.get(id);
  const word = tracked === undefined ? "lost" : wordOf(tracked);
  const more = count === 1 ? "" : `, and ${count - 1} more`;
  const isUnderWay = word === "running" || word === "waiting";
  return new UserError(`${name} is ${isUnderWay ? word : `${word}, and its results are not here`}${more}`, {
    hint: isUnderWay
      ? "only jobs that have ended run again; --state failed chooses those"
      : "sshoal attach collects results",
  });
}
