// Jobs that ran out of memory (--retry-on-oom): which of them run once more, and with which requirement.

import type { TrackedJob } from "../model/batch-state.js";
import { isOutOfMemory, type Job, kindOf, type Outcome } from "../model/job.js";
import type { RunState } from "./run-state.js";

/** True if a larger requirement is worth a try. Each job gets one. */
export function isToGrow({ policy, grown }: RunState, { job }: TrackedJob, outcome: Outcome): boolean {
  if (policy.retriesOutOfMemory !== true || job.isGrown || grown.has(job.id)) return false;
  return isOutOfMemory(outcome);
}

/** The job with the requirement of its next attempt. */
export function asGrown({ grown }: Pick<RunState, "grown">, job: Job): Job {
  const requirement = grown.get(job.id)?.requirement;
  return requirement ? { ...job, requirement, isGrown: true } : job;
}

/** A user who changes what a job needs knows better: its growth is forgotten. */
export function forgetOutdated({ grown }: RunState, { id, requirement }: Job): void {
  const growth = grown.get(id);
  if (growth === undefined) return;
  const known = [growth.from, growth.requirement ?? growth.from].map(kindOf);
  if (!known.includes(kindOf(requirement))) grown.delete(id);
}
