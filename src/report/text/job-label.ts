// What people call a job by, and type to name it.

import type { Job } from "../../model/job.js";

/** What its name has after the batch's: `7` for train.sh.7. */
export function jobLabel({ name }: Pick<Job, "name">): string {
  return name.slice(name.lastIndexOf(".") + 1);
}
