// Sentences that more than one reporter says.

import type { RunEvent } from "../model/event.js";
import { formatBytes } from "./amounts.js";
import { printable } from "./printable.js";

export const STOPPING = {
  drain: "stopping: no new jobs; running jobs finish (Ctrl-C again stops them)",
  stop: "stopping running jobs, collecting what they have",
} as const;

const NAMED_LEFT_OUT = 5;

/** The warnings an event is worth: none for most. */
export function warningLines(event: RunEvent): string[] {
  switch (event.kind) {
    case "warning":
      return [`WARNING: ${printable(event.message)}`];
    case "machine-failed": {
      const first = `WARNING: ${printable(event.machine)} is left out: ${printable(event.reason)}`;
      return event.hint === null ? [first] : [first, printable(event.hint)];
    }
    default:
      return [];
  }
}

/** What travels to the machines and what stays here. */
export function treeLine({ files, bytes, leftOut }: Extract<RunEvent, { kind: "tree-read" }>): string {
  const travels = `copying ${count(files, "file")}, ${formatBytes(bytes)}`;
  if (leftOut.length === 0) return travels;
  const named = leftOut.slice(0, NAMED_LEFT_OUT).map(printable).join(", ");
  const more = leftOut.length - NAMED_LEFT_OUT;
  return `${travels}; left out: ${named}${more > 0 ? ` and ${more} more` : ""}`;
}

export function count(amount: number, noun: string): string {
  return `${amount} ${noun}${amount === 1 ? "" : "s"}`;
}
