// Why jobs wait on a machine, in its own words. A slot gives a reason for the first waiting job of each kind.

import { type Job, type JobId, kindOf } from "./job.js";

export interface WaitingReason {
  readonly slot: number;
  /** Absent: an older slot, which names no job. */
  readonly job?: JobId | undefined;
  readonly reason: string;
}

/** The last reason of each slot for each job, the newest at the end. */
export type WaitingReasons = Map<string, WaitingReason>;

export function noteReason(reasons: WaitingReasons, { slot, job, reason }: WaitingReason): void {
  const about = `${slot} ${job ?? ""}`;
  reasons.delete(about);
  reasons.set(about, { slot, job, reason });
}

/** What a slot reported is over when it starts a job or ends. So is what any slot reported about that job. */
export function forgetReasons(reasons: WaitingReasons, slot: number, job?: JobId): void {
  for (const [about, each] of reasons)
    if (each.slot === slot || (job !== undefined && each.job === job)) reasons.delete(about);
}

/** The reason for the job that comes first. */
export function firstReason(reasons: WaitingReasons): string | undefined {
  const [first] = [...reasons.values()].toReversed().sort((one, other) => (one.job ?? 0) - (other.job ?? 0));
  return first?.reason;
}

/** The job's own reason, or that of a job with the same need, or the first one. */
export function reasonFor(
  reasons: WaitingReasons,
  { id, requirement }: Job,
  jobOf: (id: JobId) => Job | undefined,
): string | undefined {
  const newest = [...reasons.values()].toReversed();
  const kind = kindOf(requirement);
  const isAlike = ({ job }: WaitingReason) => {
    const other = job === undefined ? undefined : jobOf(job);
    return other !== undefined && kindOf(other.requirement) === kind;
  };
  const found = newest.find(({ job }) => job === id) ?? newest.find(isAlike);
  return found?.reason ?? firstReason(reasons);
}
