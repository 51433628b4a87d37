// How long the rest of a run will take, reckoned from the jobs that ended so far.

import { runningJobs, type ViewState } from "./view-state.js";

/** Null when there is nothing to go by: no job ended yet, no slots, or all that is left ran over the mean. */
export function timeLeftMs(view: ViewState, now: number): number | null {
  const { totalMs, count } = view.durations;
  const slots = slotCount(view);
  if (count === 0 || slots === 0) return null;
  const meanMs = totalMs / count;
  const waiting = view.stopping === null ? view.state.tally.waiting : 0;
  let workMs = waiting * meanMs;
  let longestMs = waiting > 0 ? meanMs : 0;
  for (const { startedAt } of runningJobs(view)) {
    const restMs = Math.max(0, meanMs - (now - startedAt));
    workMs += restMs;
    longestMs = Math.max(longestMs, restMs);
  }
  const leftMs = Math.max(longestMs, workMs / slots);
  return leftMs > 0 ? leftMs : null;
}

function slotCount(view: ViewState): number {
  let count = 0;
  for (const { answer } of view.machines.values()) if (answer?.kind === "ready") count += answer.slots.length;
  return count;
}
