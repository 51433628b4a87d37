// The priority of a job as a user of a queue gives it. In the engine a smaller number starts earlier.

import type { Job } from "./job.js";

const USUAL_PRIORITY = 500;

export function queuePriority({ priority = USUAL_PRIORITY }: Pick<Job, "priority">): number {
  return USUAL_PRIORITY - priority;
}

export function enginePriority(priority: number): number {
  return USUAL_PRIORITY - priority;
}
