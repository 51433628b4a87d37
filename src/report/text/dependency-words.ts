// Why a job waits for another job, or is skipped because of it.

import type { DependencyFact } from "../../model/dependency.js";
import { printable } from "./printable.js";

/** "waits for job 3 (prepare), which runs on gpu-1", or "after job 3 (prepare), which failed". Safe to print. */
export function dependencyWords(fact: DependencyFact): string {
  const how = `job ${shownJob(fact)}, which ${stateWords(fact)}`;
  if (!fact.isOver) return `waits for ${how}`;
  return fact.when === "failed" ? `only after a failure of ${how}` : `after ${how}`;
}

/** `3`, or `3 (prepare)`. */
function shownJob({ label, line }: DependencyFact): string {
  return line === null || label === String(line) ? printable(label) : `${line} (${printable(label)})`;
}

function stateWords({ state, machine, isOver }: DependencyFact): string {
  const where = machine === null ? "" : ` on ${printable(machine)}`;
  switch (state) {
    case "running":
      return `runs${where}`;
    case "waiting":
      return `waits${where}`;
    case "succeeded":
    case "failed":
      return isOver ? state : `has ended${where}`;
    case "stopped":
    case "skipped":
      return `was ${state}`;
    case "lost":
      return "is lost";
    default:
      return state satisfies never;
  }
}
