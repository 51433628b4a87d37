// Chooses which jobs of which batch run again. Pure.

import { UserError } from "../../errors.js";
import { dependencyFact } from "../../model/dependency.js";
import type { Job, JobId } from "../../model/job.js";
import { outcomeAtHome, wordOf } from "../../model/standing.js";
import { type BatchHere, resumeCommand } from "../find/batches-here.js";
import { chooseJobs, type JobChoice } from "./choose-jobs.js";

export interface Retrying {
  readonly here: BatchHere;
  readonly jobs: readonly JobId[];
  /** Those among them whose results are still on a machine. */
  readonly toCollect: ReadonlySet<JobId>;
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
  const toCollect = jobs.filter((job) => isToCollect(here, job));
  const open = jobs.filter((job) => !isOver(here, job) && !isToCollect(here, job));
  if (open[0] !== undefined) throw openError(here, open[0], open.length);
  return { here, jobs: jobs.map(({ id }) => id), toCollect: new Set(toCollect.map(({ id }) => id)) };
}

/** A client that follows the batch is about to collect it. */
function isToCollect({ state, holder }: BatchHere, { id }: Job): boolean {
  const fate = state.jobs.get(id)?.fate;
  return holder === null && fate?.kind === "tried" && fate.stage.kind === "ended";
}

function isOver({ state }: BatchHere, { id }: Job): boolean {
  const tracked = state.jobs.get(id);
  return tracked !== undefined && (tracked.fate.kind === "stopped" || outcomeAtHome(tracked) !== undefined);
}

function openError(here: BatchHere, { id, name }: Job, count: number): UserError {
  const tracked = here.state.jobs.get(id);
  const dependency = tracked && dependencyFact(here.state, tracked);
  if (dependency?.isOver) {
    const { label, name: other } = dependency;
    return new UserError(`${name} is skipped because of ${other}`, { hint: `sshoal retry ${label}` });
  }
  const word = tracked === undefined ? "lost" : wordOf(tracked);
  const more = count === 1 ? "" : `, and ${count - 1} more`;
  const isUnderWay = word === "running" || word === "waiting";
  return new UserError(`${name} is ${isUnderWay ? word : `${word}, and its results are not here`}${more}`, {
    hint: isUnderWay
      ? "only jobs that have ended run again; --state failed chooses those"
      : `${resumeCommand(here)} collects results`,
  });
}
