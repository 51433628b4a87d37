// What people call a job by, and type to name it.

import type { Job } from "../../model/job.js";

/** What its name has after the batch's: `7` for train.sh.7, or its own name. */
export function jobLabel({ name, label }: Pick<Job, "name" | "label">): string {
  return label ?? name.slice(name.lastIndexOf(".") + 1);
}
