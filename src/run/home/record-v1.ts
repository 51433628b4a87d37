// Converts records of version 1, which 0.1.0 and clients before 0.2.0 wrote, to version 2.

import type { RunEvent } from "../../model/event.js";
import { separate } from "./older-spools.js";

/** Fields that had other names in version 1, in which a job was identified by its line. */
type Recorded = RunEvent & { readonly line?: number; readonly lines?: readonly number[] };

/** Keeps the order. */
export function upgradeEvents(recorded: readonly Recorded[]): readonly RunEvent[] {
  return separate(recorded.map(upgradeEvent), 1);
}

function upgradeEvent({ line, lines, ...event }: Recorded): RunEvent {
  const ids = { ...(line !== undefined && { job: line }), ...(lines !== undefined && { jobs: lines }) };
  return withLaterFields({ ...event, ...ids } as RunEvent);
}

/** Version 0.1 did not use the ssh configuration, had one transport, and ran nothing in place. */
function withLaterFields(event: RunEvent): RunEvent {
  if (event.kind === "jobs-added") return { ...event, jobs: event.jobs.map(upgradeJob) };
  if (event.kind === "run-ended" && event.incomplete !== undefined)
    return { ...event, incomplete: event.incomplete.map(upgradeLine) };
  if (event.kind !== "run-started") return event;
  const machines = event.machines.map((machine) => {
    const { address } = machine;
    if (address.kind !== "ssh") return machine;
    const { configFile = null, transport = null } = address;
    return { ...machine, address: { ...address, configFile, transport } };
  });
  const settings = { ...event.settings, inPlace: event.settings.inPlace ?? null };
  return { ...event, jobs: event.jobs.map(upgradeJob), machines, settings };
}

/** In version 1 the line was the id of a job. */
function upgradeJob<T extends { readonly line: number | null }>(job: T): T & { readonly id: number } {
  return { id: job.line ?? 0, ...job };
}

function upgradeLine<T extends { readonly line?: number; readonly job: number }>({ line, ...about }: T) {
  return { ...about, job: line ?? about.job };
}
