// Runs a job again, after its results, if there are any, moved aside.

import type { Job } from "../model/job.js";
import type { Results } from "./home/results.js";
import type { Emit } from "./loop.js";

export function reopenJob(results: Results, { id, name }: Pick<Job, "id" | "name">, emit: Emit): void {
  const aside = results.moveAside(name);
  emit({ kind: "job-reopened", job: id, ...(aside !== null && { aside }) });
}
