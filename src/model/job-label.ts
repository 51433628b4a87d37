// The short name of a job, which people type.

import type { Job } from "./job.js";

/** The part of its name after the batch's: `7` for train.sh.7, or its own label. */
export function jobLabel({ name, label }: Pick<Job, "name" | "label">): string {
  return label ?? name.slice(name.lastIndexOf(".") + 1);
}
