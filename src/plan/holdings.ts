// Counts and lists what a machine has of a batch.

import type { Attempt } from "../model/attempt.js";
import type { MachineState } from "../model/batch-state.js";
import type { JobId } from "../model/job.js";
import type { Incomplete } from "../model/job-event.js";

/** The number of jobs that were given to the machine and, as far as the client knows, have not begun. */
export function countWaiting({ current: { assigned, sent, queued } }: MachineState): number {
  return assigned.size + sent.size + queued.size;
}

/** The slots of these machines that run no job. */
export function idleSlots(machines: Iterable<MachineState>): number {
  let idle = 0;
  for (const { slots, current } of machines) idle += Math.max(0, slots - current.running.size);
  return idle;
}

/** The ids of the first `most` attempts. */
export function idsOf(sources: readonly ReadonlySet<Attempt>[], most = Number.POSITIVE_INFINITY): JobId[] {
  const ids: JobId[] = [];
  for (const attempts of sources) {
    for (const { job } of attempts) {
      if (ids.length >= most) return ids;
      ids.push(job);
    }
  }
  return ids;
}

export function firstOf<T>(items: Iterable<T>, most: number): T[] {
  const some: T[] = [];
  for (const item of items) {
    if (some.length >= most) break;
    some.push(item);
  }
  return some;
}

/** Jobs that must not be lost with the machine: they have begun, or have certainly arrived. */
export function heldBy({ current, overtaken }: MachineState): JobId[] {
  const { queued, running, ended } = current;
  return idsOf([queued, running, ended, overtaken.running, overtaken.ended]);
}

/** The results of which a part is still on the machine. */
export function incompleteOf({ job, number, machine, stage }: Attempt): Incomplete {
  const missing = stage.kind === "collected" ? stage.missing : [];
  return { job, attempt: number, machine, missing };
}
