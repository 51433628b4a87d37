// How long a batch was active: while a client followed it, and while machines ran its jobs without a client.

export interface Life {
  /** One per client that followed the batch, oldest first. */
  readonly stretches: Stretch[];
  /** Only of jobs that ended by themselves: stopped and lost jobs do not show how long a job takes. */
  readonly durations: { totalMs: number; count: number };
}

/** Times are by the local clock. */
interface Stretch {
  readonly from: number;
  /** The client's last event, or the end of the last job that ended before the next client started. */
  until: number;
  /** How many jobs machines still had when the next client started, as far as is known. */
  left: number;
}

export function newLife(): Life {
  return { stretches: [], durations: { totalMs: 0, count: 0 } };
}

export interface Arrival {
  readonly at: number;
  /** How many jobs the client knows. With none, as with stdin, it is a new batch with the same name. */
  readonly jobs: number;
  /** How many jobs the machines have to run, as the previous client knew it. */
  readonly held: number;
}

/** A client begins to follow the batch. */
export function beginStretch({ stretches }: Life, { at, jobs, held }: Arrival): void {
  if (jobs === 0) stretches.length = 0;
  const last = stretches.at(-1);
  if (last !== undefined) last.left = held;
  stretches.push({ from: at, until: at, left: 0 });
}

/** The client that follows the batch has seen an event. */
export function noteSign({ stretches }: Life, at: number): void {
  const last = stretches.at(-1);
  if (last !== undefined && at > last.until) last.until = at;
}

/** A job has ended, perhaps before the client started that learned of it. */
export function noteEndAt({ stretches }: Life, endedAt: number): void {
  let next: number | null = null;
  for (let index = stretches.length - 1; index >= 0; index--) {
    const stretch = stretches[index] as Stretch;
    if (next !== null && endedAt > next) return;
    if (next !== null) stretch.left--;
    stretch.until = Math.max(stretch.until, endedAt);
    next = stretch.from;
  }
}

/** Pass null for `now` if no client follows the batch and no machine has a job of it to run. */
export function lengthOf({ stretches }: Life, now: number | null): number {
  let lengthMs = 0;
  for (const [index, { from, until, left }] of stretches.entries()) {
    const next = stretches[index + 1]?.from;
    const end = next === undefined ? now : left > 0 ? next : null;
    // A clock that was set back does not change the sum.
    lengthMs += Math.max(0, Math.max(until, end ?? until) - from);
  }
  return lengthMs;
}
