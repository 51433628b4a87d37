// `sshoal stop`: ends a job or a batch. A client that follows it collects what is left; without one, this does.

import { type BatchHere, findBatch, hintAtNames, loadBatches } from "../../batch/batches-here.js";
import type { Connector } from "../../batch/connector.js";
import { withControl } from "../../batch/reach.js";
import { orderFor } from "../../batch/recorded-batch.js";
import { ExitCode, UserError } from "../../errors.js";
import type { JobId } from "../../model/job.js";
import { keyOn } from "../../plan/run-state.js";
import type { Control } from "../../remote/spool/control.js";
import { Results } from "../../run/home/results.js";
import type { StopOptions } from "../options/acting-commands.js";
import { readSurroundings } from "../read-surroundings.js";
import { lastingConnector } from "../terminal/connectors.js";
import { followHere } from "../terminal/follow-here.js";
import { note } from "../terminal/note.js";

export async function stop(options: StopOptions): Promise<ExitCode> {
  const surroundings = readSurroundings();
  const results = new Results(surroundings.cwd);
  const { here, jobs } = choose(loadBatches(results), options.name);
  const places = machinesOf(here, jobs);
  if (places.size === 0) {
    throw new UserError(`nothing of ${options.name} is running or queued`, { hint: "sshoal status" });
  }
  // A client may be about to give jobs to another machine: it alone can stop them all, and hears it from any.
  const isForClient = here.holder !== null && jobs === null;
  const chosen = isForClient ? new Map([...places].slice(0, 1)) : places;
  const connector = lastingConnector(surroundings, options, note);
  await onMachines(here, chosen, connector.connect, async (control, keys) => {
    if (isForClient) await control.halt();
    else refuseMissed(options.name, await control.stop(keys));
  });
  if (here.holder !== null) return ExitCode.Success;
  const left = new Set([...places.values()].flat());
  const order = { ...(await orderFor(here, results, surroundings, "none")), machines: [] };
  return followHere({
    order,
    surroundings,
    options,
    connector,
    isEnough: (_run, event) => {
      if (event.kind === "job-collected" || event.kind === "job-stuck") left.delete(event.job);
      return left.size === 0 && jobs !== null;
    },
  });
}

function refuseMissed(name: string, missed: readonly string[]): void {
  if (missed.length === 0) return;
  throw new UserError(`${name} is on its way to another machine`, { hint: `sshoal stop ${name}` });
}

/** `jobs` null: the whole batch. */
function choose(
  batches: readonly BatchHere[],
  name: string,
): { here: BatchHere; jobs: readonly JobId[] | null } {
  for (const here of batches) {
    const job = here.jobs.find((each) => each.name === name);
    if (job !== undefined) return { here, jobs: [job.id] };
  }
  const here = findBatch(batches, name);
  if (here !== null) return { here, jobs: null };
  const known = batches.flatMap(({ batch, jobs }) => [batch, ...jobs.map((job) => job.name)]);
  throw new UserError(`there is no job or batch ${name} here`, { hint: hintAtNames(name, known) });
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
