// Which of the finished jobs run again. Pure.

import { type JobId, type Outcome, succeeded } from "../model/job.js";

/** A set: the named jobs. "changed" and "stopped" have the same effect, because a changed command is a new job. */
export type Rerun = "none" | "stopped" | "changed" | "failed" | "all" | ReadonlySet<number>;

export function isToRerun(rerun: Rerun, id: JobId, outcome: Outcome | null): boolean {
  if (typeof rerun !== "string") return rerun.has(id);
  if (rerun === "all") return true;
  if (outcome?.kind === "stopped") return rerun !== "none";
  return rerun === "failed" && outcome !== null && !succeeded(outcome);
}
