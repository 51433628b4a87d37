// Stops a job or a whole batch on the machines that have it.

import { UserError } from "../errors.js";
import type { JobId } from "../model/job.js";
import { keyOn } from "../plan/run-state.js";
import type { Control } from "../remote/spool/control.js";
import { type BatchHere, findBatch, hintAtNames } from "./batches-here.js";
import type { Connector } from "./connector.js";
import { withControl } from "./reach.js";

export interface Stopping {
  readonly here: BatchHere;
  /** Null: the whole batch. */
  readonly jobs: readonly JobId[] | null;
  /** As it was asked for. */
  readonly name: string;
}

/** `name`: a job's or a batch's. Throws UserError when it is neither. */
export function chooseToStop(batches: readonly BatchHere[], name: string): Stopping {
  for (const here of batches) {
    const job = here.jobs.find((each) => each.name === name);
    if (job !== undefined) return { here, jobs: [job.id], name };
  }
  const here = findBatch(batches, name);
  if (here !== null) return { here, jobs: null, name };
  const known = batches.flatMap(({ batch, jobs }) => [batch, ...jobs.map((job) => job.name)]);
  throw new UserError(`there is no job or batch ${name} here`, { hint: hintAtNames(name, known) });
}

/** Resolves with the jobs whose results are to be collected. Throws UserError when there is nothing to stop. */
export async function stopJobs({ here, jobs, name }: Stopping, connect: Connector): Promise<Set<JobId>> {
  const places = machinesOf(here, jobs);
  if (places.size === 0) {
    throw new UserError(`nothing of ${name} is running or queued`, { hint: "sshoal status" });
  }
  // A client may be about to give jobs to another machine: it alone can stop them all, and hears it from any.
  const isForClient = here.holder !== null && jobs === null;
  const chosen = isForClient ? new Map([...places].slice(0, 1)) : places;
  await onMachines(here, chosen, connect, async (control, keys) => {
    if (isForClient) await control.halt();
    else refuseMissed(name, await control.stop(keys));
  });
  return new Set([...places.values()].flat());
}

function refuseMissed(name: string, missed: readonly string[]): void {
  if (missed.length === 0) return;
  throw new UserError(`${name} is on its way to another machine`, { hint: `sshoal stop ${name}` });
}

/** What is queued or running, as far as the record knows, by machine. */
function machinesOf({ state }: BatchHere, jobs: readonly JobId[] | null): Map<string, JobId[]> {
  const places = new Map<string, JobId[]>();
  for (const { name, current } of state.machines.values()) {
    const { assigned, sent, queued, running } = current;
    const there = [...assigned, ...sent, ...queued, ...running].map(({ job }) => job);
    const wanted = jobs === null ? there : there.filter((id) => jobs.includes(id));
    if (wanted.length > 0) places.set(name, wanted);
  }
  return places;
}

async function onMachines(
  { batch, machines, state }: BatchHere,
  places: ReadonlyMap<string, readonly JobId[]>,
  connect: Connector,
  act: (control: Control, keys: readonly string[]) => Promise<void>,
): Promise<void> {
  for (const [name, jobs] of places) {
    const machine = machines.get(name);
    if (machine === undefined) continue;
    const keys = jobs.map((id) => keyOn(state, name, id));
    await withControl(machine, batch, connect, (control) => act(control, keys));
  }
}
