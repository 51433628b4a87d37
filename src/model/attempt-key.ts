// Names attempts on their machines. Slots take the waiting jobs of a spool in the order of these names.

import type { Attempt } from "./attempt.js";
import type { Job, JobId } from "./job.js";

const USUAL_PRIORITY = 500;
const ORDER_DIGITS = 10;
const RANK_DIGITS = 3 + ORDER_DIGITS;
const USUAL_RANK = USUAL_PRIORITY * 10 ** ORDER_DIGITS;

/**
 * The order in which waiting jobs start: by priority, then by order. A smaller rank starts earlier. Counts from the usual
 * priority, because a small integer uses no memory of its own.
 */
export function rankOf({ id, priority = USUAL_PRIORITY, order = id }: Job): number {
  if (priority === USUAL_PRIORITY) return order;
  return (priority - USUAL_PRIORITY) * 10 ** ORDER_DIGITS + order;
}

/** The rank of an attempt in a spool of this format; null in format 1, which sorts by job. */
export function rankIn(spoolFormat: number, job: Job): number | null {
  return spoolFormat === 1 ? null : rankOf(job);
}

/** `<rank>-<id>-<attempt>`. Sorts by rank as text, and never needs quoting. */
export function attemptKey({ rank, job, number }: Pick<Attempt, "rank" | "job" | "number">): string {
  if (rank === null) return `${String(job).padStart(7, "0")}-${number}`;
  return `${String(USUAL_RANK + rank).padStart(RANK_DIGITS, "0")}-${job}-${number}`;
}

/** Spools of format 1 have keys without a rank: `<id with seven digits>-<attempt>`. */
const KEY = /^(?:\d{13}-(\d{1,10})|(\d{7,10}))-(\d{1,4})$/;

export function isAttemptKey(word: string): boolean {
  return KEY.test(word);
}

export function parseAttemptKey(key: string): { job: JobId; attempt: number } {
  const [, id, paddedId, attempt] = KEY.exec(key) ?? [];
  return { job: Number(id ?? paddedId ?? 0), attempt: Number(attempt ?? 0) };
}
