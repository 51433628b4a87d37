// What a machine has of a batch, in numbers and ids.

import type { Attempt } from "../model/attempt.js";
import type { MachineState } from "../model/batch-state.js";
import type { Incomplete } from "../model/event.js";
import type { JobId } from "../model/job.js";

/** Jobs that were given to the machine and have not begun, as far as is known. */
export function countWaiting({ current: { assigned, sent, queued } }: MachineState): number {
  return assigned.size + sent.size + queued.size;
}

export function* idsOf(attempts: Iterable<Attempt>): Iterable<JobId> {
  for (const { job } of attempts) yield job;
}

/** What a machine has that must not be lost: it has begun, or is known to have arrived. */
export function heldBy({ current, overtaken }: MachineState): JobId[] {
  const { queued, running, ended } = current;
  return [...idsOf([...queued, ...running, ...ended, ...overtaken.running, ...overtaken.ended])];
}

/** Results of which something is still on the machine. */
export function incompleteOf({ job, number, machine, stage }: Attempt): Incomplete {
  const missing = stage.kind === "collected" ? stage.missing : [];
  return { job, attempt: number, machine, missing };
}
