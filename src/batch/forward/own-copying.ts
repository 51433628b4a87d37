// --copy-forward and --copy-backwards of single jobs, which replace those of the batch.

import { type Problem, problemsError } from "../../errors.js";
import type { Job, JobId } from "../../model/job.js";
import { type Copying, NO_MEANING, type Resolving, resolveBackwards, resolveForward } from "./copy-paths.js";

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
    return asked === undefined ? job : { ...job, ...resolveOwn(asked, batch, { workingDir, problems }) };
  });
  if (problems.length > 0) throw problemsError(problems);
  return all;
}

/** The paths of one job that differ from those of the batch. */
export function resolveOwn(
  asked: OwnCopying,
  batch: Copying,
  { workingDir, problems }: Pick<Resolving, "workingDir" | "problems">,
): Pick<Job, "copyForward" | "copyBack"> {
  refuseInPlace(asked, batch, problems);
  const resolved = (own: OwnPaths | null, resolve: typeof resolveForward) =>
    own && inOrder(resolve(own.paths, { workingDir, before: `${own.where}: `, problems }));
  const forward = resolved(asked.forward, resolveForward);
  const back = resolved(asked.backwards, resolveBackwards);
  const isUsual = batch.inPlace === null && forward !== null && isSame(forward, batch.copyForward);
  return {
    ...(forward !== null && !isUsual && { copyForward: forward }),
    ...(back !== null && !isSame(back, batch.copyBack) && { copyBack: back }),
  };
}

/**
 * Of jobs that run in place, only those with a copy of files have a directory to keep: the others share the user's own.
 * `keepsDir`: of the batch.
 */
export function keepingCopy<T extends Pick<Job, "keepsDir" | "copyForward">>(job: T, keepsDir: boolean): T {
  const { keepsDir: own, ...rest } = job;
  const isKept = job.copyForward !== undefined && (own ?? keepsDir);
  return (isKept ? { ...rest, keepsDir: true } : rest) as T;
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
