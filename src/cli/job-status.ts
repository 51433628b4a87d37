// A batch's state, job by job, as `sshoal status` shows it. Pure.

import { courseOf } from "../model/attempt.js";
import { type BatchState, lastAttempt, runsOf, type TrackedJob, wordOf } from "../model/batch-state.js";
import type { Job, Outcome } from "../model/job.js";
import type { JobStatus } from "../report/status-lines.js";

interface KnownBatch {
  readonly jobs: readonly Job[];
  readonly state: BatchState;
}

export function jobStatuses({ jobs, state }: KnownBatch): JobStatus[] {
  return jobs.flatMap((job) => {
    const tracked = state.jobs.get(job.line);
    return tracked === undefined ? [] : [jobStatus(tracked)];
  });
}

function jobStatus(tracked: TrackedJob): JobStatus {
  const { line, name, parameters } = tracked.job;
  const attempt = lastAttempt(tracked);
  return {
    job: name,
    line,
    state: wordOf(tracked),
    isHere: tracked.fate.kind === "skipped" || attempt?.stage.kind === "collected",
    machine: attempt?.machine ?? null,
    slot: attempt === null ? null : courseOf(attempt.stage).slot,
    attempt: attempt?.run ?? runsOf(tracked),
    outcome: outcomeOf(tracked),
    ...(parameters !== undefined && { parameters }),
  };
}

function outcomeOf({ fate }: TrackedJob): Outcome | null {
  if (fate.kind === "skipped") return fate.outcome;
  return fate.kind === "tried" && "outcome" in fate.attempt.stage ? fate.attempt.stage.outcome : null;
}
