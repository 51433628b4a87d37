// How long a batch has been at work: while a client followed it, and while its jobs ran without one.

export interface Life {
  /** One for each client that followed the batch, oldest first. */
  readonly stretches: Stretch[];
  /** Of jobs that ended by themselves: what was stopped or lost says nothing of how long a job takes. */
  readonly durations: { totalMs: number; count: number };
}

/** By this computer's clock. */
interface Stretch {
  from: number;
  /** The client's last event, or the end of the last job that ran before the next client came. */
  until: number;
}

export function newLife(): Life {
  return { stretches: [], durations: { totalMs: 0, count: 0 } };
}

/** A client begins to follow the batch. One that knows of no job yet, as of stdin, begins a new batch in all but name. */
export function beginStretch({ stretches }: Life, at: number, jobs: number): void {
  if (jobs === 0) stretches.length = 0;
  stretches.push({ from: at, until: at });
}

/** The client that follows the batch has seen something happen. */
export function noteSign({ stretches }: Life, at: number): void {
  const last = stretches.at(-1);
  if (last !== undefined && at > last.until) last.until = at;
}

/** A job ran, perhaps while no client followed the batch. One that ran before all clients that are known: it began then. */
export function noteWork({ stretches }: Life, startedAt: number, endedAt: number): void {
  const [first] = stretches;
  if (first !== undefined && startedAt < first.from) first.from = startedAt;
  let next = Number.POSITIVE_INFINITY;
  for (const stretch of stretches.toReversed()) {
    if (startedAt >= next) return;
    stretch.until = Math.max(stretch.until, Math.min(endedAt, next));
    next = stretch.from;
  }
}

/** `runningSince`: since when a job runs; null: none does. `now` is null when no client follows the batch and no job runs. */
export function lengthOf({ stretches }: Life, runningSince: number | null, now: number | null): number {
  let lengthMs = 0;
  for (const [index, { from, until }] of stretches.entries()) {
    const next = stretches[index + 1]?.from ?? now ?? until;
    const isAtWork = index === stretches.length - 1 || (runningSince !== null && runningSince < next);
    const begin = index === 0 ? Math.min(from, runningSince ?? from) : from;
    // A clock that was set back adds nothing and takes nothing away.
    lengthMs += Math.max(0, (isAtWork ? Math.max(until, next) : until) - begin);
  }
  return lengthMs;
}
