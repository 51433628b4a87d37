// The end of a run: the last reports, and what the record keeps.

import type { Requirement } from "../model/job.js";
import { adviseNeeds } from "../plan/advise-needs.js";
import { incompleteOf } from "../plan/holdings.js";
import { hasOnlyKept } from "../plan/kept-dirs.js";
import { countJobs, type RunState } from "../plan/run-state.js";
import { isEmpty } from "../plan/stock.js";
import type { Beginning } from "./beginning.js";
import { isOfThisDisk } from "./home/disk-error.js";
import type { PrunedResults } from "./home/prune-results.js";
import type { Results } from "./home/results.js";
import type { Loop } from "./loop.js";

interface Closing {
  /** Of earlier results. */
  readonly removed: PrunedResults | undefined;
  readonly requirement: Requirement;
  readonly machines: Parameters<typeof adviseNeeds>[0]["machines"];
}

export async function tellEnd(loop: Loop, state: RunState, closing: Closing): Promise<void> {
  const { removed = { count: 0, bytes: 0 }, requirement, machines } = closing;
  if (removed.count > 0) loop.emit({ kind: "old-results-removed", ...removed });
  tellSilent(loop, state);
  tellUncleaned(loop, state);
  const incomplete = [...state.machines.values()].flatMap(({ rests }) =>
    [...rests.values()].map(incompleteOf),
  );
  const needs = adviseNeeds({ jobs: [...state.jobs.values()], requirement, machines });
  loop.emit({
    kind: "run-ended",
    counts: { ...countJobs(state), skipped: state.halting.skipped },
    ...(incomplete.length > 0 && { incomplete }),
    ...(needs.length > 0 && { needs }),
  });
  await loop.flush();
}

/** The run does not wait for a machine that is still connecting when the last job is collected. */
function tellSilent(loop: Loop, { machines }: RunState): void {
  const reason = "it had not answered when the last job was done";
  for (const { name, phase } of machines.values()) {
    if (phase === "connecting") loop.emit({ kind: "machine-failed", machine: name, reason, hint: null });
  }
}

function tellUncleaned(loop: Loop, { machines }: RunState): void {
  for (const machine of machines.values()) {
    if (machine.phase !== "lost" || !machine.hasSpool || !isEmpty(machine) || hasOnlyKept(machine)) continue;
    const message = `${machine.name} is unreachable; to remove the batch's files from it, type the same command again later`;
    loop.emit({ kind: "warning", message });
  }
}

/** Records the reports of the last verbs if possible. Without them the next client asks the machines again. */
export function leaveRecord(loop: Loop, begun: Beginning, results: Results): void {
  const { record, recordPath, past, state, unlock } = begun;
  try {
    loop.settle();
    record.close();
  } catch (error) {
    if (!isOfThisDisk(error)) throw error;
  }
  // No machine ever got a job, so there is nothing to keep.
  if (past === null && !wasAnyTried(state)) results.removeUnused(recordPath, unlock);
  else unlock();
}

function wasAnyTried({ jobs }: RunState): boolean {
  for (const { lastNumber } of jobs.values()) if (lastNumber > 0) return true;
  return false;
}
