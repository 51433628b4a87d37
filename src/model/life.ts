// How long a batch has been at work: while a client followed it, and while machines had jobs of it to run without one.

export interface Life {
  /** One for each client that followed the batch, oldest first. */
  readonly stretches: Stretch[];
  /** Of jobs that ended by themselves: what was stopped or lost says nothing of how long a job takes. */
  readonly durations: { totalMs: number; count: number };
}

/** By this computer's clock. */
interface Stretch {
  readonly from: number;
  /** The client's last event, or the end of the last job that ended before the next client came. */
  until: number;
  /** How many jobs machines still had when the next client came, as far as is known. */
  left: number;
}

export function newLife(): Life {
  return { stretches: [], durations: { totalMs: 0, count: 0 } };
}

export interface Arrival {
  readonly at: number;
  /** How many jobs it knows of. With none, as of stdin, it begins a new batch in all but name. */
  readonly jobs: number;
  /** How many jobs machines have to run, as the client before knew. */
  readonly held: number;
}

/** A client begins to follow the batch. */
export function beginStretch({ stretches }: Life, { at, jobs, held }: Arrival): void {
  if (jobs === 0) stretches.length = 0;
  const last = stretches.at(-1);
  if (last !== undefined) last.left = held;
  stretches.push({ from: at, until: at, left: 0 });
}

/** The client that follows the batch has seen something happen. */
export function noteSign({ stretches }: Life, at: number): void {
  const last = stretches.at(-1);
  if (last !== undefined && at > last.until) last.until = at;
}

/** A job has ended, perhaps before the client came that learns of it. */
export function noteEndAt({ stretches }: Life, endedAt: number): void {
  let next: number | null = null;
  for (const stretch of stretches.toReversed()) {
    if (next !== null && endedAt > next) return;
    if (next !== null) stretch.left--;
    stretch.until = Math.max(stretch.until, endedAt);
    next = stretch.from;
  }
}

/** `now` is null when no client follows the batch and no machine has a job of it to run. */
export function lengthOf({ stretches }: Life, now: number | null): number {
  let lengthMs = 0;
  for (const [index, { from, until, left }] of stretches.entries()) {
    const next = stretches[index + 1]?.from;
    const end = next === undefined ? now : left > 0 ? next : null;
    // A clock that was set back adds nothing and takes nothing away.
    lengthMs += Math.max(0, Math.max(until, end ?? until) - from);
  }
  return lengthMs;
}
