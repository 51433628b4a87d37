// Runs jobs again that ended while no client followed: each as soon as its results are collected.

import { UserError } from "../../errors.js";
import type { RunEvent } from "../../model/event.js";
import type { JobId } from "../../model/job.js";
import { outcomeAtHome } from "../../model/standing.js";
import type { FollowedRun } from "./followed-run.js";
import { retryIn } from "./steer-run.js";

/** Returns what to call after every event. */
export function rerunCollected(run: FollowedRun, jobs: ReadonlySet<JobId>): (event: RunEvent) => void {
  const left = new Set(jobs);
  return (event) => {
    if (event.kind !== "job-collected" || !left.has(event.job)) return;
    const tracked = run.state.jobs.get(event.job);
    if (tracked === undefined || outcomeAtHome(tracked) === undefined) return;
    left.delete(event.job);
    // A lost job is retried anyway.
    if (run.state.machines.get(event.machine)?.toRetry.has(event.job)) return;
    retryIn(run, [event.job]).catch((error: unknown) => {
      if (!(error instanceof UserError)) return run.abandon(error as Error);
      run.emit({ kind: "warning", message: `${tracked.job.name} does not run again: ${error.message}` });
    });
  };
}
