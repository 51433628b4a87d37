// What a machine has of a batch, in numbers and lines.

import type { Attempt } from "../model/attempt.js";
import type { MachineState } from "../model/batch-state.js";
import type { Incomplete } from "../model/event.js";

/** Jobs that were given to the machine and have not begun, as far as is known. */
export function countWaiting({ current: { assigned, sent, queued } }: MachineState): number {
  return assigned.size + sent.size + queued.size;
}

export function* linesOf(attempts: Iterable<Attempt>): Iterable<number> {
  for (const { line } of attempts) yield line;
}

/** What a machine has that must not be lost: it has begun, or is known to have arrived. */
export function heldBy({ current, overtaken }: MachineState): number[] {
  const { queued, running, ended } = current;
  return [...linesOf([...queued, ...running, ...ended, ...overtaken.running, ...overtaken.ended])];
}

/** Results of which something is still on the machine. */
export function incompleteOf({ line, number, machine, stage }: Attempt): Incomplete {
  const missing = stage.kind === "collected" ? stage.missing : [];
  return { line, attempt: number, machine, missing };
}
