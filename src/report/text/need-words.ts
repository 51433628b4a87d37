// What one job needs, in one line: `1 card with 16 GB, 4 cores, 8 GB`.

import type { GpuRequirement, Requirement } from "../../model/job.js";
import { memoryWords } from "./gigabytes.js";
import { printable } from "./printable.js";

export function needWords(requirement: Requirement): string {
  const { cpus, memoryMb, gpu, reservesMachine, resources = {} } = requirement;
  const parts = [
    ...(reservesMachine ? ["a whole machine"] : []),
    ...(gpu === null ? [] : [cardWords(gpu)]),
    `${cpus} ${cpus === 1 ? "core" : "cores"}`,
    memoryWords(memoryMb),
    ...Object.entries(resources).map(([name, amounts]) => `${amounts.join(" + ")} ${printable(name)}`),
  ];
  return parts.join(", ");
}

/** `1 card with 16 GB`, `0.5 of a card with 4 GB`, `2 shared cards of A100|H100 with 4 GB` */
function cardWords({ count, memoryMb, model, memoryTotalMb, isReserved, listed }: GpuRequirement): string {
  const kind = isReserved || count < 1 ? "" : "shared ";
  const cards = count < 1 ? `${count} of a card` : `${count} ${kind}${count === 1 ? "card" : "cards"}`;
  const which = listed === undefined ? "" : ` of --gpus ${listed.join(" ")}`;
  const named = model === undefined ? "" : ` (${printable(model)})`;
  const large = memoryTotalMb === undefined ? "" : ` of at least ${memoryWords(memoryTotalMb)}`;
  return `${cards}${named}${which}${large} with ${memoryWords(memoryMb)}`;
}
