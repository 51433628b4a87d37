// For programs: one event a line, in the format that docs/json-events.md describes and promises to keep.

import type { RunEvent } from "../../model/event.js";
import type { Reporter, TextSink } from "../reporter.js";

const VERSION = 1;

export function createJsonReporter(stdout: TextSink): Reporter {
  const nameOf = new Map<number, string>();
  return {
    show(event) {
      if (event.kind === "run-started" || event.kind === "jobs-added")
        for (const { line, name } of event.jobs) nameOf.set(line, name);
      // What jobs print can be a secret and can be a flood; it is in their .out and .err.
      if (event.kind !== "job-said") stdout.write(`${formatEvent(event, nameOf)}\n`);
    },
    suspend() {},
    resume() {},
    close() {},
  };
}

function formatEvent(event: RunEvent, nameOf: ReadonlyMap<number, string>): string {
  const { kind, at, ...rest } = event;
  const job = "line" in event ? { job: nameOf.get(event.line) ?? null } : {};
  return escapeC1(JSON.stringify({ v: VERSION, kind, at, ...job, ...rest }));
}

/** JSON allows these raw, but a terminal obeys them. */
export function escapeC1(json: string): string {
  return json.replace(/[\x7f-\x9f]/g, (char) => `\\u00${char.charCodeAt(0).toString(16)}`);
}
