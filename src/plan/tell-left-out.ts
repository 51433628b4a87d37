// Tells of jobs that no machine can ever run, once all machines have answered.

import type { MachineState } from "../model/batch-state.js";
import type { News } from "../model/event.js";
import type { RunState } from "./run-state.js";

/** One event per kind of need. Empty if a machine could not be asked: it may be the one that has what they need. */
export function tellLeftOut({ homeless, machines }: RunState): News[] {
  if (homeless.size === 0) return [];
  const all = [...machines.values()];
  // Otherwise the run ends without any job, and each machine has given its reason.
  if (all.every(({ kinds }) => kinds.size === 0)) return [];
  return [...homeless].flatMap(([kind, jobs]): News[] => {
    if (all.some((machine) => mayRun(machine, kind))) return [];
    const reasons = all.flatMap(({ name, short }) => {
      const reason = short.get(kind);
      return reason === undefined ? [] : [{ machine: name, reason }];
    });
    return reasons.length === 0 ? [] : [{ kind: "jobs-left-out", jobs: [...jobs], reasons }];
  });
}

function mayRun({ phase, kinds, short }: MachineState, kind: string): boolean {
  return kinds.has(kind) || (phase === "failed" && !short.has(kind));
}
