// Computes how long a batch has taken so far, and how long the rest will take.

import type { Attempt } from "./attempt.js";
import type { BatchState } from "./batch-state.js";
import { lengthOf } from "./life.js";

/** The sum over all clients. Pass null for `now` if no client follows the batch and no machine has a job of it to run. */
export function elapsedMs({ life }: BatchState, now: number | null): number {
  return lengthOf(life, now);
}

/** How many jobs are on machines and, as far as the client knows, have not ended. */
export function countHeld({ machines }: BatchState): number {
  let count = 0;
  for (const { attempts, current, overtaken } of machines.values())
    count += attempts.size - current.ended.size - overtaken.ended.size;
  return count;
}

/** The mean over jobs that ended by themselves; null if there is none. */
function meanDurationMs({ life: { durations } }: BatchState): number | null {
  return durations.count === 0 ? null : durations.totalMs / durations.count;
}

/** Null if there is no basis for an estimate: no job has ended, there are no slots, or all remaining jobs exceed the mean. */
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

/** The number of jobs that will still begin, without dropped ones. */
function countUnbegun({ waiting, held, machines }: BatchState): number {
  let count = waiting.size + held.size;
  for (const { current } of machines.values())
    count += current.assigned.size + current.sent.size + current.queued.size;
  return count;
}

function runningIn({ machines }: BatchState): Extract<Attempt["stage"], { kind: "running" }>[] {
  return [...machines.values()].flatMap(({ current }) =>
    [...current.running].flatMap(({ stage }) => (stage.kind === "running" ? [stage] : [])),
  );
}
