// Writes what jobs of one kind need, for the allocator on the machine. docs/slot.md has the format.

import { findListed, isSuitable } from "../../model/card-choice.js";
import type { GpuRequirement, Requirement } from "../../model/job.js";
import type { Capacity, Gpu } from "../../model/machine.js";
import { cardWord, megabytes, thousandths } from "./room-words.js";

/** The lines of one need. The slot adds the key of a job to the first of them. */
export function formatNeed(
  kind: string,
  { cpus, memoryMb, gpu, reservesMachine, resources = {} }: Requirement,
  { gpus }: Pick<Capacity, "gpus">,
): string {
  const lines = [
    ["need", kind, megabytes(memoryMb), thousandths(cpus), reservesMachine ? 1 : 0],
    ...(gpu === null ? [] : [["cards", kind, ...cardWords(gpu, gpus)]]),
    ...Object.entries(resources).map(([name, amounts]) => [
      "wants",
      kind,
      name,
      amounts.map(thousandths).join(","),
    ]),
  ];
  return lines.map((words) => `${words.join(" ")}\n`).join("");
}

function cardWords(need: GpuRequirement, gpus: readonly Gpu[]): (string | number)[] {
  const all = thousandths(need.count);
  const [whole, fraction] = [Math.floor(all / 1000), all % 1000];
  return [
    whole,
    fraction,
    megabytes(need.memoryMb),
    thousandths(need.utilization),
    need.isReserved ? 1 : 0,
    candidates(need, gpus),
    need.listed === undefined ? 0 : 1,
  ];
}

/** The cards that the machine file leaves out are among them: the room has a letter for that. */
function candidates(need: GpuRequirement, gpus: readonly Gpu[]): string {
  const { listed, model, memoryTotalMb } = need;
  if (listed === undefined && model === undefined && memoryTotalMb === undefined) return "*";
  const wanted =
    listed === undefined ? gpus : findListed(gpus, listed).flatMap(({ gpu }) => (gpu ? [gpu] : []));
  const suitable = wanted.filter((gpu) => isSuitable(gpu, need));
  return suitable.map(cardWord).join(",") || "-";
}
