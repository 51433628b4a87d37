// What happens to a job that ran out of memory (--retry-on-oom): `out of memory: once more with 4000 MB`.

import type { RunEvent } from "../../model/event.js";
import { failureOf, type GpuRequirement, type Outcome, type Requirement } from "../../model/job.js";
import { printable } from "./printable.js";

type Grown = Extract<RunEvent, { kind: "job-grown" }>;

export function grownWords(event: Grown): string {
  const what = shortageWords(event.outcome);
  if (event.requirement === null) return `${what}: not once more, because ${printable(event.reason)}`;
  const memory = memoryWords(event.before, event.requirement).map((amount) => ` with ${amount}`);
  const alone = aloneWords(event.before.gpu, event.requirement.gpu).map((words) => `, ${words}`);
  return [`${what}: once more`, ...memory, ...alone].join("");
}

function shortageWords(outcome: Outcome): string {
  const failure = failureOf(outcome);
  if (failure === "gpu-out-of-memory") return "out of GPU memory";
  return failure === "likely-out-of-memory" ? "likely out of memory" : "out of memory";
}

/** The one that is more than before, in MB as the options take it. */
function memoryWords(before: Requirement, after: Requirement): string[] {
  if (after.memoryMb > before.memoryMb) return [`${after.memoryMb} MB`];
  const cardMb = after.gpu?.memoryMb ?? 0;
  return cardMb > (before.gpu?.memoryMb ?? 0) ? [`${cardMb} MB of GPU memory`] : [];
}

function aloneWords(before: GpuRequirement | null, after: GpuRequirement | null): string[] {
  if (!after?.isReserved || (before?.isReserved && before.count === after.count)) return [];
  return [after.count > 1 ? "alone on its cards" : "alone on its card"];
}
