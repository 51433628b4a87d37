// For programs: one event a line, in the format that docs/json-events.md describes and promises to keep.

import type { RunEvent } from "../../model/event.js";
import type { JobId } from "../../model/job.js";
import type { Reporter, TextSink } from "../reporter.js";

const VERSION = 2;

export function createJsonReporter(stdout: TextSink): Reporter {
  const nameOf = new Map<JobId, string>();
  return {
    show(event) {
      if (event.kind === "run-started" || event.kind === "jobs-added")
        for (const { id, name } of event.jobs) nameOf.set(id, name);
      // What jobs print can be a secret and can be a flood; it is in their .out and .err.
      if (event.kind !== "job-said") stdout.write(`${formatEvent(event, nameOf)}\n`);
    },
    suspend() {},
    resume() {},
    close() {},
  };
}

function formatEvent(event: RunEvent, nameOf: ReadonlyMap<JobId, string>): string {
  const { kind, at, ...rest } = event;
  const name = "job" in event ? { name: nameOf.get(event.job) ?? null } : {};
  return escapeC1(JSON.stringify({ v: VERSION, kind, at, ...name, ...rest }));
}

/** JSON allows these raw, but a terminal obeys them. */
export function escapeC1(json: string): string {
  return json.replace(/[\x7f-\x9f]/g, (char) => `\\u00${char.charCodeAt(0).toString(16)}`);
}
