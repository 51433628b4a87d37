// Events of records of version 1, as version 2 has them: 0.1.0 wrote those, and clients until 0.2.0.

import type { RunEvent } from "../../model/event.js";

/** What version 1 had under other names. Its jobs were known by their lines. */
type Recorded = RunEvent & { readonly line?: number; readonly lines?: readonly number[] };

export function upgradeEvent(recorded: Recorded): RunEvent {
  const { line, lines, ...event } = recorded;
  const known = {
    ...event,
    ...(line !== undefined && { job: line }),
    ...(lines !== undefined && { jobs: lines }),
  };
  return withLaterFields(known as RunEvent);
}

/** Version 0.1 knew nothing of the ssh configuration, had one transport, and ran nothing in place. */
function withLaterFields(event: RunEvent): RunEvent {
  if (event.kind === "jobs-added") return { ...event, jobs: event.jobs.map(upgradeJob) };
  if (event.kind === "run-ended" && event.incomplete !== undefined)
    return { ...event, incomplete: event.incomplete.map(upgradeLine) };
  if (event.kind !== "run-started") return event;
  const machines = event.machines.map((machine) => {
    const { address } = machine;
    if (address.kind === "local") return machine;
    const { configFile = null, transport = null } = address;
    return { ...machine, address: { ...address, configFile, transport } };
  });
  const settings = { ...event.settings, inPlace: event.settings.inPlace ?? null };
  return { ...event, jobs: event.jobs.map(upgradeJob), machines, settings };
}

/** In version 1 a job was its line. */
function upgradeJob<T extends { readonly line: number | null }>(job: T): T & { readonly id: number } {
  return { id: job.line ?? 0, ...job };
}

function upgradeLine<T extends { readonly line?: number; readonly job: number }>({ line, ...about }: T) {
  return { ...about, job: line ?? about.job };
}
