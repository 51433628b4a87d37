// Where a batch stood when its last client left, from that client's record. What has happened since is on the
// machines, and is told by their event logs once they are reached.

import type { RunEvent } from "../model/event.js";
import type { Slot } from "../model/machine.js";
import { apply, type RunState } from "./state.js";

/** The rest was about that client and its links. Stuck results are tried again. */
const REPLAYED: ReadonlySet<RunEvent["kind"]> = new Set([
  "jobs-assigned",
  "jobs-handed-over",
  "jobs-taken-back",
  "jobs-reassigned",
  "jobs-retried",
  "job-started",
  "job-ended",
  "job-collected",
  "machine-done",
]);

export interface Past {
  readonly batch: string;
  /** Of each machine that was ever given slots: the last ones. */
  readonly slots: ReadonlyMap<string, readonly Slot[]>;
  /** The command each line was last started with. */
  readonly commands: ReadonlyMap<number, string>;
  /** Attempts of which output may be on this disk already, as `line attempt`. */
  readonly begun: ReadonlySet<string>;
  /** Attempts whose results may be in place although their collection was not recorded. */
  readonly arrived: ReadonlySet<string>;
  readonly machines: ReadonlyMap<string, RecordedMachine>;
}

export type RecordedMachine = Extract<RunEvent, { kind: "run-started" }>["machines"][number];

/** Null: nothing was ever run. */
export function readPast(events: readonly RunEvent[]): Past | null {
  const slots = new Map<string, readonly Slot[]>();
  const machines = new Map<string, RecordedMachine>();
  const commands = new Map<number, string>();
  const attempts = new Map<number, number>();
  const begun = new Set<string>();
  const arrived = new Set<string>();
  let batch: string | null = null;
  let current = new Map<number, string>();
  for (const event of events) {
    if (event.kind === "run-started") {
      batch ??= event.batch;
      current = new Map(event.jobs.map(({ line, command }) => [line, command]));
      for (const machine of event.machines) machines.set(machine.name, machine);
    } else if (event.kind === "machine-ready") slots.set(event.machine, event.slots);
    else if (event.kind === "jobs-assigned") {
      for (const line of event.lines) {
        commands.set(line, current.get(line) ?? "");
        attempts.set(line, (attempts.get(line) ?? 0) + 1);
      }
    } else if (event.kind === "job-started") begun.add(`${event.line} ${event.attempt}`);
    else if (event.kind === "jobs-arrived") {
      for (const line of event.lines) arrived.add(`${line} ${attempts.get(line)}`);
    }
  }
  return batch === null ? null : { batch, slots, machines, commands, begun, arrived };
}

/** `state` knows every machine that the events speak of. */
export function replay(state: RunState, events: readonly RunEvent[]): void {
  for (const event of events) if (REPLAYED.has(event.kind)) apply(state, event);
  for (const machine of state.machines.values()) {
    machine.phase = "new";
    machine.isGivenUp = false;
  }
}
