// What the machines of a generation have in sum: slots, jobs that may begin, ends. Pure.

import type { JobId } from "../../model/job.js";
import type { QueueJob } from "../../model/queue.js";
import { endingOf } from "../../model/standing.js";
import type { RunState } from "../../plan/run-state.js";

type Machines = RunState["machines"];

export type Ending = Pick<QueueJob, "state" | "outcome" | "durationMs" | "endedAt">;

/** How many jobs they can run at a time, as far as known; 0: none has answered. */
export function slotsOn(machines: Machines): number {
  let count = 0;
  for (const { phase, isOpen, slots, current } of machines.values())
    if (phase === "ready" && isOpen) count += Math.max(slots, current.running.size);
  return count;
}

/** True if a job may begin that has not, on a machine that can be reached. */
export function mayBeginOn(machines: Machines): boolean {
  return [...machines.values()].some(({ phase, current: { assigned, sent, queued } }) => {
    return phase !== "lost" && phase !== "failed" && assigned.size + sent.size + queued.size > 0;
  });
}

/** How jobs have ended whose results are still there, of those that count. */
export function endingsOn(machines: Machines, counts: (job: JobId) => boolean): Map<JobId, Ending> {
  const endings = new Map<JobId, Ending>();
  for (const { current } of machines.values())
    for (const { job, stage } of current.ended)
      if ("outcome" in stage && counts(job)) {
        const { outcome, durationMs, endedAt } = stage;
        endings.set(job, { state: endingOf(outcome), outcome, durationMs, endedAt });
      }
  return endings;
}

/** The record has the reason of a machine that failed. */
export function hasFailedOne(machines: Machines): boolean {
  return [...machines.values()].some(({ phase }) => phase === "failed");
}

export function phasesOf(machines: Machines): string {
  return [...machines.values()].map(({ name, phase }) => `${name} is ${phase}`).join(", ");
}
