// Finds jobs that wait for each other in a circle.

import type { JobId } from "./job.js";

/** For each job that waits, the jobs that it waits for. All other jobs are over some day. */
export type Waits = Map<JobId, ReadonlySet<JobId>>;

/** Each job of the circle waits for the next one, and the last for the first; null: there is none. Drops jobs that wait for no circle. */
export function findCircle(waits: Waits): JobId[] | null {
  dropFree(waits);
  const [first] = waits.keys();
  return first === undefined ? null : circleFrom(first, waits);
}

function dropFree(waits: Waits): void {
  const waiting = new Map<JobId, JobId[]>();
  const left = new Map<JobId, number>();
  const free: JobId[] = [];
  for (const [id, others] of waits) {
    const held = [...others].filter((other) => waits.has(other));
    for (const other of held) {
      const those = waiting.get(other);
      if (those) those.push(id);
      else waiting.set(other, [id]);
    }
    left.set(id, held.length);
    if (held.length === 0) free.push(id);
  }
  for (const id of free) {
    waits.delete(id);
    for (const next of waiting.get(id) ?? []) {
      const count = (left.get(next) ?? 0) - 1;
      left.set(next, count);
      if (count === 0) free.push(next);
    }
  }
}

/** Each job that is left waits for another one that is left. */
function circleFrom(first: JobId, waits: Waits): JobId[] {
  const way = new Set<JobId>();
  let id = first;
  while (!way.has(id)) {
    way.add(id);
    id = [...(waits.get(id) ?? [])].find((other) => waits.has(other)) as JobId;
  }
  const jobs = [...way];
  return jobs.slice(jobs.indexOf(id));
}
