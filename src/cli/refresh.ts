// What has happened on the machines since a batch's last client left: asked for once, kept in memory only.

import { parseAttemptKey } from "../model/job.js";
import type { MachineState } from "../plan/machine-state.js";
import { isUnderWay } from "../plan/run-state.js";
import { apply } from "../plan/state.js";
import { readLog } from "../remote/read-log.js";
import type { SpoolEvent } from "../remote/spool-event.js";
import { type BatchHere, takeSeat } from "./batches-here.js";
import { reach, type Unreached } from "./reach.js";
import type { Connector } from "./surroundings.js";

/** Brings the batch's state up to date, and returns the machines whose jobs are as last known. */
export async function refresh(batch: BatchHere, connect: Connector): Promise<Unreached[]> {
  const holding = [...batch.state.machines.values()].filter(holdsJobs);
  const trouble = await Promise.all(holding.map((machine) => refreshFrom(machine, batch, connect)));
  return trouble.filter((each) => each !== null);
}

function holdsJobs({ queued, running, ended, orphans, begunOrphans }: MachineState): boolean {
  return queued.size + running.size + ended.size + orphans.size + begunOrphans.size > 0;
}

async function refreshFrom(
  machine: MachineState,
  known: BatchHere,
  connect: Connector,
): Promise<Unreached | null> {
  const { name } = machine;
  const unreached = {
    kind: "unreached",
    machine: name,
    hint: null,
    failure: null,
    isPassing: false,
  } as const;
  const recorded = known.machines.get(name);
  if (recorded === undefined) return { ...unreached, reason: "the record has no address of it" };
  const place = { batch: known.batch, scratch: recorded.scratch };
  const reached = await reach(recorded, connect, (session, signal) => readLog(session, place, signal));
  if (reached.kind === "unreached") return reached;
  if (reached.answer !== null) foldLog(known, name, reached.answer);
  else if (wasHandedOver(machine))
    return { ...unreached, reason: "what was handed over is not there any more" };
  return null;
}

/** A client that was killed may have assigned jobs that never got there. */
function wasHandedOver({ queued, assigned, running, ended }: MachineState): boolean {
  return queued.size - assigned.size + running.size + ended.size > 0;
}

export function foldLog(
  { state, seats }: Pick<BatchHere, "state" | "seats">,
  machine: string,
  events: readonly SpoolEvent[],
): void {
  for (const event of events) {
    if (event.kind !== "started" && event.kind !== "ended") continue;
    const { line, attempt } = parseAttemptKey(event.key);
    if (!isUnderWay(state, machine, line, attempt)) continue;
    const about = { line, attempt, machine, at: 0 };
    takeSeat(seats, event.key, { machine, slot: event.slot });
    if (event.kind === "started") apply(state, { kind: "job-started", slot: event.slot, ...about });
    else {
      const { outcome, durationMs } = event;
      takeSeat(seats, event.key, { machine, durationMs, outcome });
      apply(state, { kind: "job-ended", outcome, durationMs, ...about });
    }
  }
}
