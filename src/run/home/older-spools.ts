// Finds the spools of earlier formats in a record. What is left in them is on separate machines, beside the ones that get
// jobs now.

import type { RunEvent } from "../../model/event.js";
import { olderNames, SPOOL_FORMAT } from "../../model/machine.js";
import { initialState } from "../../plan/fold/initial-state.js";
import { readPast } from "../../plan/fold/read-past.js";
import { replay } from "../../plan/fold/replay.js";

/** The format of the runs that did not record one. */
const UNRECORDED_FORMAT = 2;

/** For events of version 2, up to the first run whose spools have the current format. */
export function separateOlder(events: readonly RunEvent[]): RunEvent[] {
  if (!events.some(({ kind }) => kind === "run-started")) return [...events];
  const first = events.findIndex(
    (event) => event.kind === "run-started" && event.spoolFormat === SPOOL_FORMAT,
  );
  const [before, after] = first === -1 ? [events, []] : [events.slice(0, first), events.slice(first)];
  return [...separate(before, UNRECORDED_FORMAT), ...after];
}

/** For events of one format, or of several up to it. Keeps the order. */
export function separate(events: readonly RunEvent[], format: number): readonly RunEvent[] {
  const left = machinesWithSpools(events);
  return left.size === 0 ? events : events.map((event) => withOlderSpools(event, left, format));
}

/** Machines that had something of the batch when the last client of that format left, each with the name of that spool. */
function machinesWithSpools(events: readonly RunEvent[]): Map<string, string> {
  const past = readPast(events);
  const names = new Set(events.flatMap((event) => ("machine" in event ? [event.machine] : [])));
  const policy = { retries: 0, retriesFailures: false, reassignAfterMs: null };
  const state = initialState({ jobs: [...(past?.jobs.values() ?? [])], machines: [...names], policy });
  replay(state, events);
  // What is left of an even older format is separate already.
  const isSeparate = (name: string) => past?.machines.get(name)?.spool !== undefined;
  const left = [...state.machines.values()].filter(({ hasSpool, name }) => hasSpool && !isSeparate(name));
  return new Map(
    left.map(({ name }) => {
      const [first, second] = olderNames(name);
      return [name, isSeparate(first) ? second : first];
    }),
  );
}

function withOlderSpools(event: RunEvent, left: ReadonlyMap<string, string>, format: number): RunEvent {
  if (event.kind === "run-started") {
    const spool = { batch: event.batch, format };
    const older = event.machines.flatMap((machine) => {
      const name = left.get(machine.name);
      return name === undefined ? [] : [{ ...machine, name, spool }];
    });
    return { ...event, machines: [...event.machines, ...older] };
  }
  const name = "machine" in event ? left.get(event.machine) : undefined;
  return name === undefined ? event : ({ ...event, machine: name } as RunEvent);
}
