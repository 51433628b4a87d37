// The lines of `sshoal stop`: what happened to each job that it was asked to stop.

import type { JobId } from "../../model/job.js";
import type { JobWord } from "../../model/standing.js";
import { printable } from "../text/printable.js";
import { jsonLine } from "./json-lines.js";
import { count } from "./wording.js";

const LISTED = 20;

export interface StoppedLine {
  readonly job: JobId;
  readonly name: string;
  /** Null: it had not begun. */
  readonly machine: string | null;
  readonly end: JobWord | "unreached";
}

/** One line per job, at most twenty, and the total. */
export function stopLines(jobs: readonly StoppedLine[], stem: string): string[] {
  const more = jobs.length - LISTED;
  const stopped = jobs.filter(({ end }) => end === "stopped").length;
  return [
    ...jobs.slice(0, LISTED).map(stopLine),
    ...(more > 0 ? [`… and ${more} more`] : []),
    `stopped ${count(stopped, "job")} of ${printable(stem)}`,
  ];
}

function stopLine({ name, machine, end }: StoppedLine): string {
  const where = machine === null ? "it had not begun" : `on ${printable(machine)}`;
  if (end === "stopped") return `stopped: ${printable(name)}, ${where}`;
  if (end === "unreached") return `not stopped: ${printable(name)}, ${where}, which cannot be reached`;
  return `not stopped: ${printable(name)} ${end} before`;
}

/** In the format that docs/json-events.md promises to keep. */
export function stopJson({ job, name, machine, end }: StoppedLine): string {
  return jsonLine({ kind: "job-stopped", job, name, machine, state: end });
}
