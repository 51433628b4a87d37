// Slots where the user says which cards: one for each that is listed, in that order, whatever else is free. A job waits
// over there until what it asks for is free, too.

import type { GpuRequirement, ListedCard } from "../../model/job.js";
import type { Capacity, Gpu, MachineSpec, Slot } from "../../model/machine.js";
import { slotCard } from "./cards.js";
import type { CardRefusal, RefusedCard, Shortage } from "./shortage.js";

export interface ListedCards {
  readonly slots: readonly Slot[];
  /** Empty: every card that is listed can be used. */
  readonly shortages: readonly Shortage[];
}

/** A card that is listed twice has two slots. Each slot has as many as a job gets, one after the other. */
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

/** The slices of a card are listed by its number: each time it comes, the next one. */
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

/** Where no tool tells of cards, the user is taken at their word. */
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
    // Such a one is made visible by its UUID.
    isMig: !isByIndex,
  };
}
