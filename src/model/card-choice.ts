// Which of a machine's cards a job may get at all, whatever is free on them.

import type { GpuRequirement, ListedCard } from "./job.js";
import type { Gpu } from "./machine.js";

/** Whether the card is of a wanted model, and large enough. */
export function isSuitable(
  { name, memoryTotalMb }: Pick<Gpu, "name" | "memoryTotalMb">,
  need: Pick<GpuRequirement, "model" | "memoryTotalMb">,
): boolean {
  const isLarge = need.memoryTotalMb === undefined || (memoryTotalMb ?? 0) >= need.memoryTotalMb;
  return isLarge && (need.model === undefined || hasModel(name, need.model));
}

function hasModel(name: string, model: string): boolean {
  const parts = model.split("|").map((part) => part.trim().toLowerCase());
  return parts.some((part) => part !== "" && name.toLowerCase().includes(part));
}

/** The listed cards in their order; undefined: the machine has no such card. */
export function findListed(
  gpus: readonly Gpu[],
  listed: readonly ListedCard[],
): { readonly card: ListedCard; readonly gpu: Gpu | undefined }[] {
  const asked = new Map<ListedCard, number>();
  return listed.map((card) => {
    const turn = asked.get(card) ?? 0;
    asked.set(card, turn + 1);
    return { card, gpu: gpus.length === 0 ? unseen(card) : cardAt(gpus, card, turn) };
  });
}

/** The slices of a card are listed by the card's number: each repetition means the next slice. */
function cardAt(gpus: readonly Gpu[], card: ListedCard, turn: number): Gpu | undefined {
  const same = gpus.filter(({ index, uuid }) =>
    typeof card === "number" ? index === card : uuid.startsWith(card),
  );
  return same[turn % Math.max(1, same.length)];
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
