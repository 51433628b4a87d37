// --copy-forward and --copy-backwards of single jobs, which replace those of the batch.

import { type Problem, problemsError } from "../errors.js";
import type { Job, JobId } from "../model/job.js";
import { type Copying, NO_MEANING, resolveBackwards, resolveForward } from "./copy-paths.js";

export interface OwnCopying {
  /** Null, here and below: as in the batch. */
  readonly forward: OwnPaths | null;
  readonly backwards: OwnPaths | null;
}

interface OwnPaths {
  /** Their place: `train.sh:3`. */
  readonly where: string;
  /** As typed. */
  readonly paths: readonly string[];
}

export interface AskedJobs {
  readonly jobs: readonly Job[];
  readonly own: ReadonlyMap<JobId, OwnCopying>;
}

/** The jobs with their paths. Throws UserError with every mistake. */
export function resolveOwnCopying({ jobs, own }: AskedJobs, batch: Copying, workingDir: string): Job[] {
  const problems: Problem[] = [];
  const all = jobs.map((job) => {
    const asked = own.get(job.id);
    if (asked === undefined) return job;
    refuseInPlace(asked, batch, problems);
    const resolved = (own: OwnPaths | null, resolve: typeof resolveForward) =>
      own && inOrder(resolve(own.paths, { workingDir, before: `${own.where}: `, problems }));
    const forward = resolved(asked.forward, resolveForward);
    const back = resolved(asked.backwards, resolveBackwards);
    const isUsual = batch.inPlace === null && forward !== null && isSame(forward, batch.copyForward);
    return {
      ...job,
      ...(forward !== null && !isUsual && { copyForward: forward }),
      ...(back !== null && !isSame(back, batch.copyBack) && { copyBack: back }),
    };
  });
  if (problems.length > 0) throw problemsError(problems);
  return all;
}

/** A job with its own --copy-forward does not run in place, whatever the others do. */
function refuseInPlace(own: OwnCopying, { inPlace }: Copying, problems: Problem[]): void {
  if (inPlace === null || own.forward !== null || own.backwards === null) return;
  problems.push({
    where: own.backwards.where,
    message: `--copy-backwards ${NO_MEANING}`,
    hint: "add --copy-forward ./ to give the job a copy of the working directory",
  });
}

/** The same paths in any order are the same tree. */
function inOrder(paths: readonly string[]): string[] {
  return [...new Set(paths)].sort();
}

function isSame(one: readonly string[], other: readonly string[]): boolean {
  return JSON.stringify(one) === JSON.stringify(inOrder(other));
}
