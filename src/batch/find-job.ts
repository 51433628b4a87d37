// Which job a word means: its name, or its line number where that leaves no doubt. Pure.

import { UserError } from "../errors.js";
import type { Job } from "../model/job.js";
import { type BatchHere, hintAtNames } from "./batches-here.js";

export interface FoundJob {
  readonly stem: string;
  readonly job: Job;
}

type Batch = Pick<BatchHere, "stem" | "jobs">;

/** Throws UserError when there is none, or more than one. */
export function findJob(batches: readonly Batch[], word: string): FoundJob {
  const [only, ...others] = batches;
  const isLine = /^\d+$/.test(word);
  if (isLine && others.length > 0) {
    const names = batches.map(({ stem }) => `${stem}.${word}`);
    throw new UserError(`there are ${batches.length} batches here: line ${word} of which?`, {
      hint: `sshoal logs ${names.slice(0, 3).join(", or ")}`,
    });
  }
  const name = isLine ? `${only?.stem}.${Number(word)}` : word;
  for (const { stem, jobs } of batches) {
    const job = jobs.find((each) => each.name === name);
    if (job !== undefined) return { stem, job };
  }
  const names = batches.flatMap(({ jobs }) => jobs.map((job) => job.name));
  throw new UserError(`there is no job ${name} here`, { hint: hintAtNames(name, names) });
}
