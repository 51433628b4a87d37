// Writes the facts about a machine that do not change while a batch runs, for the allocator on the machine. docs/slot.md
// has the format.

import type { Placing } from "../../model/batch.js";
import { findListed } from "../../model/card-choice.js";
import type { ListedCard } from "../../model/job.js";
import type { Capacity, Gpu, MachineSpec } from "../../model/machine.js";
import { megabytes, plainWord, thousandths } from "./room-words.js";

export interface RoomFacts {
  readonly spec: Pick<MachineSpec, "gpus" | "excludeGpus" | "maxJobs" | "keepFree" | "resources">;
  readonly capacity: Pick<Capacity, "gpus">;
  readonly placing?: Placing | undefined;
  /** The name of the batch. */
  readonly batch: string;
  /** The cards that the user lists for jobs of the batch. */
  readonly listed?: readonly ListedCard[] | undefined;
}

export function formatRoom({ spec, capacity, placing = {}, batch, listed = [] }: RoomFacts): string {
  const { memoryMb, cpus, gpus: cards } = spec.keepFree;
  const lines = [
    ["batch", plainWord(batch)],
    ...(placing.packs ? [["rule", "pack"]] : []),
    ...(placing.isPolite ? [["rule", "polite"]] : []),
    ["keep", megabytes(memoryMb), thousandths(cpus), cards],
    ["jobs", spec.maxJobs ?? "-"],
    ...cardLines(spec, capacity.gpus, listed),
    ...resourceLines(spec),
  ];
  return lines.map((words) => `${words.join(" ")}\n`).join("");
}

type Words = (string | number)[];

/** Free memory and use are those of the probe: the machine measures them again where it can. */
function cardLines(spec: RoomFacts["spec"], gpus: readonly Gpu[], listed: readonly ListedCard[]): Words[] {
  const trusted = new Set(findListed(gpus, listed).flatMap(({ gpu }) => (gpu ? [gpu] : [])));
  // Cards that are only listed, and not seen, are in the room as well.
  const cards = new Map([...gpus, ...trusted].map((gpu) => [gpu.uuid, gpu]));
  return [...cards.values()].map((gpu) => [
    "card",
    gpu.index,
    plainWord(gpu.uuid),
    gpu.vendor,
    known(gpu.memoryTotalMb),
    known(gpu.memoryFreeMb),
    gpu.utilization === null ? "-" : thousandths(gpu.utilization),
    flags(gpu, spec, trusted.has(gpu)),
    gpu.memoryGroup === undefined ? "-" : plainWord(gpu.memoryGroup),
  ]);
}

/** Rounded down, so that no job gets more than there is. */
function known(mb: number | null): number | string {
  return mb === null ? "-" : Math.max(0, Math.floor(mb));
}

/** A listed card whose memory cannot be read is used all the same. */
function flags(gpu: Gpu, { gpus, excludeGpus }: RoomFacts["spec"], isListed: boolean): string {
  const isExcluded = !(gpus?.includes(gpu.index) ?? true) || excludeGpus.includes(gpu.index);
  const letters = [
    gpu.isExclusive && "e",
    gpu.sharesHostMemory && "s",
    gpu.isMig && "m",
    isListed && gpu.memoryFreeMb === null && "t",
    gpu.unusable !== null && "b",
    isExcluded && "x",
  ];
  return letters.filter((letter) => letter !== false).join("") || "-";
}

function resourceLines({ resources = {} }: RoomFacts["spec"]): Words[] {
  return Object.entries(resources).flatMap(([name, instances]) =>
    Object.entries(instances).map(([instance, capacity]) => [
      "res",
      name,
      plainWord(instance),
      thousandths(capacity),
    ]),
  );
}
