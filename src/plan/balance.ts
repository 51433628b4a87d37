// While the client is connected: waiting jobs of machines that are behind are taken back for those that have run dry.

import type { MachineState } from "./machine-state.js";

export interface TakeBack {
  readonly machine: string;
  readonly lines: readonly number[];
}

/** Everybody is brought down to the same work a slot, but only once a machine has nothing left to do. */
export function balance(machines: readonly MachineState[]): TakeBack[] {
  const working = machines.filter(({ phase, isOpen, slots }) => phase === "ready" && isOpen && slots > 0);
  if (!working.some(isDry)) return [];
  const jobs = working.reduce((sum, { queued, running }) => sum + queued.size + running.size, 0);
  const slots = working.reduce((sum, machine) => sum + machine.slots, 0);
  return working.flatMap(({ name, slots: own, queued, running, assigned, kept, orphans, busy }) => {
    // Orphans are being taken back as well: two requests at once for one line, and the later answer would be stale.
    if (busy.has("take-back") || busy.has("hand-over") || assigned.size + orphans.size > 0) return [];
    const surplus = Math.floor(queued.size + running.size - Math.max(own, (jobs / slots) * own));
    // The last ones: the first are about to be begun.
    const movable = [...queued].filter((line) => !kept.has(line));
    const lines = movable.slice(-Math.min(surplus, movable.length));
    return surplus > 0 && lines.length > 0 ? [{ machine: name, lines }] : [];
  });
}

function isDry({ slots, queued, running, busy }: MachineState): boolean {
  return queued.size === 0 && running.size < slots && !busy.has("hand-over");
}
