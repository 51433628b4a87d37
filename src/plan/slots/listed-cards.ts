// Slots on the cards that the user lists: one slot per listed card, in that order, even if the card is busy. A job
// waits on the machine until its memory and cores are free.

import type { GpuRequirement, ListedCard } from "../../model/job.js";
import type { Capacity, Gpu, MachineSpec, Slot } from "../../model/machine.js";
import { slotCard } from "./cards.js";
import type { CardRefusal, RefusedCard, Shortage } from "./shortage.js";

export interface ListedCards {
  readonly slots: readonly Slot[];
  /** Empty if every listed card can be used. */
  readonly shortages: readonly Shortage[];
}

/** A card that is listed twice gets two slots. Each slot has as many cards as a job needs, in the listed order. */
export function listSlots(
  spec: MachineSpec,
  { gpus }: Capacity,
  { count }: Pick<GpuRequirement, "count">,
  listed: readonly ListedCard[],
): ListedCards {
  const asked = new Map<ListedCard, number>();
  const found: Gpu[] = [];
  const absent: ListedCard[] = [];
  const refused: RefusedCard[] = [];
  for (const card of listed) {
    const turn = asked.get(card) ?? 0;
    asked.set(card, turn + 1);
    const gpu = gpus.length === 0 ? unseen(card) : cardAt(gpus, card, turn);
    const why = gpu === undefined ? null : refusal(spec, gpu);
    if (gpu === undefined) absent.push(card);
    else if (why !== null) refused.push({ gpu, why });
    else found.push(slotCard(gpu));
  }
  const shortages: Shortage[] = [];
  if (absent.length > 0) {
    const isByUuid = absent.every((card) => typeof card === "string");
    const there = [...new Set(gpus.map(({ index, uuid }) => (isByUuid ? uuid : index)))];
    shortages.push({ kind: "no-such-gpu", absent: [...new Set(absent)], there });
  }
  if (refused.length > 0) shortages.push({ kind: "gpus", needed: 1, available: found.length, refused });
  if (shortages.length > 0) return { slots: [], shortages };
  const slots: Slot[] = [];
  for (let at = 0; at + count <= found.length; at += count)
    slots.push({ index: slots.length, gpus: found.slice(at, at + count) });
  return { slots, shortages };
}

/** The slices of a card are listed by the card's number: each repetition means the next slice. */
function cardAt(gpus: readonly Gpu[], card: ListedCard, turn: number): Gpu | undefined {
  const same = gpus.filter(({ index, uuid }) =>
    typeof card === "number" ? index === card : uuid.startsWith(card),
  );
  return same[turn % Math.max(1, same.length)];
}

function refusal({ gpus, excludeGpus }: MachineSpec, { index, unusable }: Gpu): CardRefusal | null {
  if (unusable !== null) return { kind: "unusable", reason: unusable };
  const isAllowed = (gpus?.includes(index) ?? true) && !excludeGpus.includes(index);
  return isAllowed ? null : { kind: "not-allowed" };
}

/** If no tool reports cards, the user's list is trusted. */
function unseen(card: ListedCard): Gpu {
  const isByIndex = typeof card === "number";
  return {
    vendor: "nvidia",
    index: isByIndex ? card : 0,
    uuid: isByIndex ? `card-${card}` : card,
    name: "",
    memoryTotalMb: null,
    memoryFreeMb: null,
    utilization: null,
    unusable: null,
    isExclusive: false,
    sharesHostMemory: false,
    // A card that is listed by its UUID is made visible by its UUID.
    isMig: !isByIndex,
  };
}
