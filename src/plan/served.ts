// For a batch with jobs of several kinds: which machines can run which jobs.

import type { MachineState } from "../model/batch-state.js";
import type { JobId } from "../model/job.js";
import { kindOfJob, type RunState } from "./run-state.js";

export function isServedBy(state: RunState, { kinds }: MachineState, id: JobId): boolean {
  return state.kinds.size === 0 || kinds.has(kindOfJob(state, id));
}

/** The jobs that at least one of the machines can run. Does not look at each machine for each job. */
export function servedBy(
  state: RunState,
  machines: Iterable<MachineState>,
  jobs: Iterable<JobId>,
): Iterable<JobId> {
  if (state.kinds.size === 0) return jobs;
  const served = new Set([...machines].flatMap(({ kinds }) => [...kinds]));
  return [...jobs].filter((id) => served.has(kindOfJob(state, id)));
}
