// A batch's state, job by job, as `sshoal status` shows it. Pure.

import { courseOf } from "../model/attempt.js";
import { attemptKey } from "../model/attempt-key.js";
import { type BatchState, lastAttempt, runsOf, type TrackedJob, wordOf } from "../model/batch-state.js";
import type { JobStatus } from "../model/batch-status.js";
import type { Job, Outcome } from "../model/job.js";

interface KnownBatch {
  readonly jobs: readonly Job[];
  readonly state: BatchState;
  /** Why the results of an attempt could not be taken, as `job attempt`. */
  readonly stuck: ReadonlyMap<string, string>;
}

export function jobStatuses({ jobs, state, stuck }: KnownBatch): JobStatus[] {
  return jobs.flatMap((job) => {
    const tracked = state.jobs.get(job.id);
    return tracked === undefined ? [] : [jobStatus(tracked, stuck)];
  });
}

function jobStatus(tracked: TrackedJob, stuck: KnownBatch["stuck"]): JobStatus {
  const { id, line, name, parameters } = tracked.job;
  const attempt = lastAttempt(tracked);
  const missing = attempt?.stage.kind === "collected" ? attempt.stage.missing : [];
  const reason = attempt?.stage.kind === "ended" ? stuck.get(`${id} ${attempt.number}`) : undefined;
  return {
    job: id,
    name,
    line,
    state: wordOf(tracked),
    isHere: tracked.fate.kind === "skipped" || attempt?.stage.kind === "collected",
    machine: attempt?.machine ?? null,
    slot: attempt === null ? null : courseOf(attempt.stage).slot,
    attempt: attempt?.run ?? runsOf(tracked),
    key: attempt === null ? null : attemptKey(attempt),
    outcome: outcomeOf(tracked),
    ...(parameters !== undefined && { parameters }),
    ...(missing.length > 0 && { missing }),
    ...(reason !== undefined && { reason }),
  };
}

function outcomeOf({ fate }: TrackedJob): Outcome | null {
  if (fate.kind === "skipped") return fate.outcome;
  return fate.kind === "tried" && "outcome" in fate.stage ? fate.stage.outcome : null;
}
