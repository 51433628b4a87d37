// The short name of a job, which people type.

import type { Job, JobId } from "./job.js";

export type LabelOf = (id: JobId) => string;

/** The part of its name after the batch's: `7` for train.sh.7, or its own label. */
export function jobLabel({ name, label }: Pick<Job, "name" | "label">): string {
  return label ?? name.slice(name.lastIndexOf(".") + 1);
}

/** Machines call jobs by their ids. After an edit of the script, another job may have that number. */
export function labelsIn(jobs: ReadonlyMap<JobId, { readonly job: Pick<Job, "name" | "label"> }>): LabelOf {
  return (id) => {
    const found = jobs.get(id);
    return found === undefined ? String(id) : jobLabel(found.job);
  };
}
