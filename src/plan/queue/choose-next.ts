// Chooses which waiting jobs of a queue the machines get ahead of time: about a second of work for each slot. What a
// machine has no room for yet must not hold up jobs of other needs, and an urgent job overtakes the ones that wait there.

import type { JobId } from "../../model/job.js";

/** The first waiting job of a kind. */
export interface Head {
  readonly kind: string;
  readonly id: JobId;
  readonly priority: number;
}

/** The jobs that machines have, and that have not begun. */
export interface Ahead {
  readonly total: number;
  readonly byKind: ReadonlyMap<string, number>;
  /** The one that starts last; null: there are none. */
  readonly last: Pick<Head, "id" | "priority"> | null;
}

export interface Window {
  /** How many jobs all slots together have ahead. */
  readonly most: number;
  /** How many more jobs may begin, as the user limits it; Infinity: no limit. */
  readonly limit: number;
}

/** So many kinds have a job ahead, although the window is full of other kinds. */
const MOST_KINDS = 64;
/** So many jobs go ahead because they are more urgent than what is there. */
const MOST_URGENT = 16;

/** Null: the machines have enough. O(kinds). */
export function chooseNext(heads: Iterable<Head>, ahead: Ahead, { most, limit }: Window): Head | null {
  if (ahead.total >= limit) return null;
  let best: Head | null = null;
  for (const head of heads) {
    if (best !== null && !isBefore(head, best)) continue;
    if (isWanted(head, ahead, most)) best = head;
  }
  return best;
}

function isWanted(head: Head, { total, byKind, last }: Ahead, most: number): boolean {
  const ofKind = byKind.get(head.kind) ?? 0;
  if (total < most) return true;
  if (ofKind === 0) return byKind.size < MOST_KINDS;
  return last !== null && head.priority > last.priority && total < most + MOST_URGENT;
}

/** The order in which jobs of a queue start. */
export function isBefore(one: Pick<Head, "id" | "priority">, other: Pick<Head, "id" | "priority">): boolean {
  return one.priority === other.priority ? one.id < other.id : one.priority > other.priority;
}

const SECOND_OF_WORK_MS = 1000;
const MOST_AHEAD = 200;

/** `usualMs`: how long jobs of the queue take; null: not known. `asked`: what the user wants; null: a second of work. */
export function aheadOfEachSlot(usualMs: number | null, asked: number | "all" | null): number {
  if (asked === "all") return Number.POSITIVE_INFINITY;
  if (asked !== null) return asked;
  if (usualMs === null) return 1;
  return Math.min(MOST_AHEAD, Math.max(1, Math.ceil(SECOND_OF_WORK_MS / Math.max(1, usualMs))));
}

/** Jobs are handed over some at a time: not before a third of the window is used up. */
export function isTimeToGive(ahead: number, most: number): boolean {
  return ahead * 3 <= most * 2;
}
