// Slots on the cards that the user lists: one slot per listed card, in that order, even if the card is busy. A job
// waits on the machine until its memory and cores are free.

import { findListed, isSuitable } from "../../model/card-choice.js";
import type { GpuRequirement, ListedCard } from "../../model/job.js";
import type { Capacity, Gpu, MachineSpec, Slot } from "../../model/machine.js";
import type { CardRefusal, RefusedCard, Shortage } from "../../model/shortage.js";
import { isAllowed } from "./machine-question.js";

export interface ListedCards {
  readonly slots: readonly Slot[];
  /** Empty if every listed card can be used. */
  readonly shortages: readonly Shortage[];
}

/** A card that is listed twice gets two slots. Each slot has as many cards as a job uses, in the listed order. */
export function listSlots(
  spec: MachineSpec,
  { gpus }: Capacity,
  need: GpuRequirement,
  listed: readonly ListedCard[],
): ListedCards {
  const found: Gpu[] = [];
  const absent: ListedCard[] = [];
  const refused: RefusedCard[] = [];
  for (const { card, gpu } of findListed(gpus, listed)) {
    const why = gpu === undefined ? null : refusal(spec, gpu);
    if (gpu === undefined) absent.push(card);
    else if (why !== null) refused.push({ gpu, why });
    else if (isSuitable(gpu, need)) found.push(gpu);
  }
  const shortages: Shortage[] = [];
  if (absent.length > 0) {
    const isByUuid = absent.every((card) => typeof card === "string");
    const there = [...new Set(gpus.map(({ index, uuid }) => (isByUuid ? uuid : index)))];
    shortages.push({ kind: "no-such-gpu", absent: [...new Set(absent)], there });
  }
  const count = Math.ceil(need.count);
  if (refused.length > 0 || (shortages.length === 0 && found.length < count))
    shortages.push({ kind: "gpus", needed: need.count, available: found.length, refused });
  if (shortages.length > 0) return { slots: [], shortages };
  const slots: Slot[] = [];
  for (let at = 0; at + count <= found.length; at += count)
    slots.push({ index: slots.length, gpus: found.slice(at, at + count) });
  return { slots, shortages };
}

function refusal(spec: MachineSpec, { index, unusable }: Gpu): CardRefusal | null {
  if (unusable !== null) return { kind: "unusable", reason: unusable };
  return isAllowed(spec, index) ? null : { kind: "not-allowed" };
}
