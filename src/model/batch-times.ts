// How long a batch has taken so far, and how long the rest of it will take.

import type { Attempt } from "./attempt.js";
import type { BatchState } from "./batch-state.js";
import { lengthOf } from "./life.js";

/** Over all of its clients. `now` is null when no client follows the batch and no machine has a job of it to run. */
export function elapsedMs({ life }: BatchState, now: number | null): number {
  return lengthOf(life, now);
}

/** How many jobs are with machines, and have not ended as far as is known. */
export function countHeld({ machines }: BatchState): number {
  let count = 0;
  for (const { attempts, current, overtaken } of machines.values())
    count += attempts.size - current.ended.size - overtaken.ended.size;
  return count;
}

/** Of its jobs that ended by themselves; null: none did. */
function meanDurationMs({ life: { durations } }: BatchState): number | null {
  return durations.count === 0 ? null : durations.totalMs / durations.count;
}

/** Null when there is nothing to go by: no job ended yet, no slots, or all that is left ran over the mean. */
export function timeLeftMs(state: BatchState, now: number): number | null {
  const meanMs = meanDurationMs(state);
  const slots = slotCount(state);
  if (meanMs === null || slots === 0) return null;
  const waiting = state.interrupted === "no" ? countUnbegun(state) : 0;
  let workMs = waiting * meanMs;
  let longestMs = waiting > 0 ? meanMs : 0;
  for (const { startedAt, isStopping } of runningIn(state)) {
    if (startedAt === null || isStopping || state.interrupted === "stop") continue;
    const restMs = Math.max(0, meanMs - (now - startedAt));
    workMs += restMs;
    longestMs = Math.max(longestMs, restMs);
  }
  const leftMs = Math.max(longestMs, workMs / slots);
  return leftMs > 0 ? leftMs : null;
}

function slotCount({ machines }: BatchState): number {
  let count = 0;
  for (const { phase, slots } of machines.values()) if (phase !== "failed") count += slots;
  return count;
}

/** Jobs that are still to begin: those that were dropped are not. */
function countUnbegun({ waiting, machines }: BatchState): number {
  let count = waiting.size;
  for (const { current } of machines.values())
    count += current.assigned.size + current.sent.size + current.queued.size;
  return count;
}

function runningIn({ machines }: BatchState): Extract<Attempt["stage"], { kind: "running" }>[] {
  return [...machines.values()].flatMap(({ current }) =>
    [...current.running].flatMap(({ stage }) => (stage.kind === "running" ? [stage] : [])),
  );
}
