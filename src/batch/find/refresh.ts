// Asks the machines once what has happened since a batch's last client left. Kept in memory only.

import { parseAttemptKey } from "../../model/attempt-key.js";
import type { MachineState } from "../../model/batch-state.js";
import { apply } from "../../plan/fold/apply.js";
import { heldBy } from "../../plan/holdings.js";
import { isUnderWay } from "../../plan/run-state.js";
import { type Place, placeOf } from "../../remote/engine/layout.js";
import { footprintOf } from "../../remote/spool/footprint-facts.js";
import { readLog } from "../../remote/spool/read-log.js";
import type { SpoolEvent } from "../../remote/spool/spool-event.js";
import type { Session } from "../../transport/session.js";
import type { Connector } from "../connector.js";
import { reach, type Unreached } from "../machine/reach.js";
import type { BatchHere } from "./batches-here.js";

/** A machine that has answered: the batch knows what it said. */
export interface Visited {
  readonly machine: string;
  readonly place: Place;
  readonly session: Session;
  readonly log: readonly SpoolEvent[];
}

export interface Refreshing {
  /** Called with each machine that has jobs of the batch, for further questions. */
  readonly visit?: (visited: Visited, signal: AbortSignal) => Promise<void>;
  /** Machines that have not answered by then are not waited for. */
  readonly signal?: AbortSignal;
}

/** Brings the batch's state up to date, and returns the machines whose jobs are as last known. */
export async function refresh(
  batch: BatchHere,
  connect: Connector,
  refreshing: Refreshing = {},
): Promise<Unreached[]> {
  // A client that follows the batch writes all it learns to the record at once.
  if (batch.holder !== null) return [];
  const holding = [...batch.state.machines.values()].filter(holdsJobs);
  const trouble = await Promise.all(
    holding.map((machine) => refreshFrom(machine, batch, connect, refreshing)),
  );
  return trouble.filter((each) => each !== null);
}

function holdsJobs({ attempts }: MachineState): boolean {
  return attempts.size > 0;
}

async function refreshFrom(
  machine: MachineState,
  known: BatchHere,
  connect: Connector,
  { visit, signal: asked }: Refreshing,
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
  const place = placeOf(known.batch, recorded);
  const look = async (session: Session, signal: AbortSignal) => {
    const log = await readLog(session, place, signal);
    if (log === null) return false;
    foldLog(known, name, log);
    await visit?.({ machine: name, place, session, log }, signal);
    return true;
  };
  const reached = await reach(recorded, connect, look, asked);
  if (reached.kind === "unreached") return reached;
  if (reached.answer || heldBy(machine).length === 0) return null;
  return { ...unreached, reason: "it no longer has the jobs that were handed over" };
}

export function foldLog(
  { state }: Pick<BatchHere, "state">,
  machine: string,
  events: readonly SpoolEvent[],
): void {
  for (const event of events) {
    if (event.kind !== "started" && event.kind !== "ended") continue;
    const { job: id, attempt } = parseAttemptKey(event.key);
    if (!isUnderWay(state, machine, id, attempt)) continue;
    const about = { job: id, attempt, machine, at: 0 };
    if (event.kind === "started") {
      const { slot, startedAt } = event;
      apply(state, { kind: "job-started", slot, ...(startedAt !== null && { startedAt }), ...about });
      continue;
    }
    apply(state, { kind: "job-started", slot: event.slot, ...about });
    const { outcome, durationMs } = event;
    const footprint = footprintOf(event.facts);
    apply(state, { kind: "job-ended", outcome, durationMs, ...(footprint && { footprint }), ...about });
  }
}
