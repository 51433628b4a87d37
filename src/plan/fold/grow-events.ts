// Applies what the client does about a job that ran out of memory.

import type { TrackedJob } from "../../model/batch-state.js";
import type { RunEvent } from "../../model/event.js";
import { noteEnd } from "../halt.js";
import { type RunState, toChange } from "../run-state.js";
import { isWorthRetrying } from "./attempt-events.js";
import { setStage } from "./attempts.js";
import { setJob } from "./edit-events.js";

/** A job that grew is retried, whatever else the policy says. Otherwise the policy alone decides. */
export function grow(state: RunState, event: Extract<RunEvent, { kind: "job-grown" }>): void {
  const tracked = state.jobs.get(event.job);
  if (tracked === undefined) return;
  const { id, requirement } = tracked.job;
  const prefers = event.requirement === null ? null : event.prefers;
  state.grown.set(id, { from: requirement, requirement: event.requirement, prefers });
  setJob(state, tracked, tracked.job);
  const { fate } = tracked;
  if (fate.kind !== "tried" || fate.number !== event.attempt || fate.stage.kind !== "collected") return;
  if (event.requirement !== null) state.excused.add(id);
  const isToRetry = isWorthRetrying(state, tracked, fate.stage.outcome);
  setStage(state, toChange(state, fate.machine), fate, { ...fate.stage, isToRetry });
  if (!isToRetry) noteEnd(state, id, fate.stage.outcome);
}

/** The job begins anew, with the requirement that was asked for. */
export function shrink(state: RunState, tracked: TrackedJob): void {
  const growth = state.grown.get(tracked.job.id);
  if (growth === undefined) return;
  state.grown.delete(tracked.job.id);
  const { requirement: _, isGrown: __, ...job } = tracked.job;
  setJob(state, tracked, growth.from === undefined ? job : { ...job, requirement: growth.from });
}
