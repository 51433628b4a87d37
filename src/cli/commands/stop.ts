// `sshoal stop`: ends a job or a batch. A client that follows it collects what is left; without one, this does.

import { type BatchHere, findBatch, hintAtNames, loadBatches } from "../../batch/batches-here.js";
import type { Connector } from "../../batch/connector.js";
import { withControl } from "../../batch/reach.js";
import { orderFor } from "../../batch/recorded-batch.js";
import { ExitCode, UserError } from "../../errors.js";
import { attemptKey } from "../../model/job.js";
import { attemptOn } from "../../plan/run-state.js";
import type { Control } from "../../remote/spool/control.js";
import { Results } from "../../run/results.js";
import type { StopOptions } from "../options/acting-commands.js";
import { readSurroundings } from "../read-surroundings.js";
import { lastingConnector } from "../terminal/connectors.js";
import { followHere } from "../terminal/follow-here.js";
import { note } from "../terminal/note.js";

export async function stop(options: StopOptions): Promise<ExitCode> {
  const surroundings = readSurroundings();
  const results = new Results(surroundings.cwd);
  const { here, lines } = choose(loadBatches(results), options.name);
  const places = machinesOf(here, lines);
  if (places.size === 0) {
    throw new UserError(`nothing of ${options.name} is running or queued`, { hint: "sshoal status" });
  }
  // A client may be about to give jobs to another machine: it alone can stop them all, and hears it from any.
  const isForClient = here.holder !== null && lines === null;
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
      if (event.kind === "job-collected" || event.kind === "job-stuck") left.delete(event.line);
      return left.size === 0 && lines !== null;
    },
  });
}

function refuseMissed(name: string, missed: readonly string[]): void {
  if (missed.length === 0) return;
  throw new UserError(`${name} is on its way to another machine`, { hint: `sshoal stop ${name}` });
}

/** `lines` null: the whole batch. */
function choose(
  batches: readonly BatchHere[],
  name: string,
): { here: BatchHere; lines: readonly number[] | null } {
  for (const here of batches) {
    const job = here.jobs.find((each) => each.name === name);
    if (job !== undefined) return { here, lines: [job.line] };
  }
  const here = findBatch(batches, name);
  if (here !== null) return { here, lines: null };
  const known = batches.flatMap(({ batch, jobs }) => [batch, ...jobs.map((job) => job.name)]);
  throw new UserError(`there is no job or batch ${name} here`, { hint: hintAtNames(name, known) });
}

/** What is queued or running, as far as the record knows, by machine. */
function machinesOf({ state }: BatchHere, lines: readonly number[] | null): Map<string, number[]> {
  const places = new Map<string, number[]>();
  for (const { name, current } of state.machines.values()) {
    const { assigned, sent, queued, running } = current;
    const there = [...assigned, ...sent, ...queued, ...running].map(({ line }) => line);
    const wanted = lines === null ? there : there.filter((line) => lines.includes(line));
    if (wanted.length > 0) places.set(name, wanted);
  }
  return places;
}

async function onMachines(
  { batch, machines, state }: BatchHere,
  places: ReadonlyMap<string, readonly number[]>,
  connect: Connector,
  act: (control: Control, keys: readonly string[]) => Promise<void>,
): Promise<void> {
  for (const [name, lines] of places) {
    const machine = machines.get(name);
    if (machine === undefined) continue;
    const keys = lines.map((line) => attemptKey(line, attemptOn(state, name, line)));
    await withControl(machine, batch, connect, (control) => act(control, keys));
  }
}
