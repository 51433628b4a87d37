// The state of a batch, job by job, as `sshoal status` shows it. Pure.

import { type Attempt, courseOf } from "../model/attempt.js";
import { attemptKey } from "../model/attempt-key.js";
import type { BatchState, TrackedJob } from "../model/batch-state.js";
import type { BatchTimes, JobStatus } from "../model/batch-status.js";
import { countHeld, elapsedMs, timeLeftMs } from "../model/batch-times.js";
import { dependencyFact } from "../model/dependency.js";
import type { Job, Outcome } from "../model/job.js";
import { lastAttempt, runsOf, wordOf } from "../model/standing.js";

interface KnownBatch {
  readonly jobs: readonly Job[];
  readonly state: BatchState;
  /** Why the results of an attempt could not be collected, as `job attempt`. */
  readonly stuck: ReadonlyMap<string, string>;
}

export function jobStatuses({ jobs, state, stuck }: KnownBatch, now: number): JobStatus[] {
  return jobs.flatMap((job) => {
    const tracked = state.jobs.get(job.id);
    if (tracked === undefined) return [];
    const dependency = dependencyFact(state, tracked);
    const leftOut = wordOf(tracked) === "waiting" ? state.leftOut.get(job.id) : undefined;
    const more = { ...(dependency && { dependency }), ...(leftOut && { leftOut }) };
    return [{ ...jobStatus(tracked, stuck, now), ...more }];
  });
}

export function batchTimes(state: BatchState, isFollowed: boolean, now: number): BatchTimes {
  const isAtWork = isFollowed || countHeld(state) > 0;
  return {
    isAtWork,
    elapsedMs: elapsedMs(state, isAtWork ? now : null),
    timeLeftMs: isAtWork ? timeLeftMs(state, now) : null,
  };
}

function jobStatus(tracked: TrackedJob, stuck: KnownBatch["stuck"], now: number): JobStatus {
  const { id, line, name, parameters } = tracked.job;
  const attempt = lastAttempt(tracked);
  const course = attempt === null ? null : courseOf(attempt.stage);
  const missing = attempt?.stage.kind === "collected" ? attempt.stage.missing : [];
  const footprint = attempt !== null && "footprint" in attempt.stage ? attempt.stage.footprint : undefined;
  const reason = attempt?.stage.kind === "ended" ? stuck.get(`${id} ${attempt.number}`) : undefined;
  return {
    job: id,
    name,
    line,
    state: wordOf(tracked),
    isHere: tracked.fate.kind === "skipped" || attempt?.stage.kind === "collected",
    machine: attempt?.machine ?? null,
    slot: course?.slot ?? null,
    ...(course?.gpus && { gpus: course.gpus }),
    attempt: attempt?.run ?? runsOf(tracked),
    startedAt: course?.startedAt ?? null,
    elapsedMs: attempt === null ? null : elapsedOf(attempt, now),
    key: attempt === null ? null : attemptKey(attempt),
    outcome: outcomeOf(tracked),
    ...(parameters !== undefined && { parameters }),
    ...(missing.length > 0 && { missing }),
    ...(reason !== undefined && { reason }),
    ...(footprint && { footprint }),
  };
}

function elapsedOf({ stage }: Attempt, now: number): number | null {
  if ("durationMs" in stage) return stage.durationMs;
  const { startedAt } = courseOf(stage);
  return startedAt === null ? null : Math.max(0, now - startedAt);
}

function outcomeOf({ fate }: TrackedJob): Outcome | null {
  if (fate.kind === "skipped") return fate.outcome;
  return fate.kind === "tried" && "outcome" in fate.stage ? fate.stage.outcome : null;
}
