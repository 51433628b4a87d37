// Chooses the cards for the next job. The room of a card is the room that the probe measured, minus the claims of other
// batches.

import type { GpuRequirement } from "../../model/job.js";
import type { Capacity, Claim, Gpu, MachineSpec } from "../../model/machine.js";
import type { CardRefusal, RefusedCard } from "./shortage.js";

/** The highest sum of utilization on a card. It may exceed 1, because few jobs use as much as they ask for. */
export const MOST_UTILIZATION = 1.2;
/** 0.4 + 0.8 is a little more than 1.2 in binary fractions. */
const ROUNDING = 1e-9;
/** A driver holds less than this on a card that no process uses. */
const IDLE_MB = 600;

/** A card while slots are being added to it. */
export interface Card {
  readonly gpu: Gpu;
  readonly isAllowed: boolean;
  readonly isKeptFree: boolean;
  /** Null if unknown, or if the card uses the memory of the host. */
  readonly freeMb: number | null;
  /** Processes other than those of claims use it. */
  readonly isForeign: boolean;
  /** Share of its computing in use or promised; what is unknown counts as 0, but such a card is taken last. */
  readonly used: number;
  /** Slots of other batches on the card. */
  readonly claims: readonly Claim[];
  /** Slots of this batch on the card. */
  readonly slots: number;
}

export interface Choice {
  readonly chosen: readonly Card[];
  readonly fitting: readonly Card[];
  readonly refused: readonly RefusedCard[];
}

export function cardsOf(spec: MachineSpec, capacity: Capacity, need: GpuRequirement): Card[] {
  const cards = capacity.gpus.map((gpu) => cardOf(spec, gpu, capacity));
  // The best of the usable ones are left for people: a card that is half in use would be a poor gift.
  const usable = cards.filter((card) => refusal(card, need) === null);
  const kept = usable.toSorted((a, b) => compareUse(a, b) || b.gpu.index - a.gpu.index);
  const isKept = new Set(kept.slice(0, spec.keepFree.gpus));
  return cards.map((card) => (isKept.has(card) ? { ...card, isKeptFree: true } : card));
}

function cardOf(spec: MachineSpec, gpu: Gpu, capacity: Capacity): Card {
  const claims = capacity.claims.filter(({ gpuUuids }) => gpuUuids.includes(gpu.uuid));
  const claimedMb = claimedMemoryMb(gpu, capacity);
  const isForeign = isUsedByOthers(gpu, claimedMb);
  const measured = isForeign ? (gpu.utilization ?? 0) : 0;
  return {
    gpu,
    isAllowed: (spec.gpus?.includes(gpu.index) ?? true) && !spec.excludeGpus.includes(gpu.index),
    isKeptFree: false,
    freeMb: gpu.memoryFreeMb === null ? null : gpu.memoryFreeMb - claimedMb,
    isForeign,
    used: measured + sum(claims.map(({ gpuUtilization }) => gpuUtilization)),
    claims,
    slots: 0,
  };
}

/** In full, although its process may hold some of it by now: in containers the owner of memory is unknown. */
function claimedMemoryMb(gpu: Gpu, { gpus, claims }: Capacity): number {
  const uuids = new Set(gpus.filter((other) => shareMemory(gpu, other)).map(({ uuid }) => uuid));
  return sum(
    claims.map(
      ({ gpuUuids, gpuMemoryMb }) => gpuMemoryMb * gpuUuids.filter((uuid) => uuids.has(uuid)).length,
    ),
  );
}

/** Also true of a card and itself. */
function shareMemory(a: Gpu, b: Gpu): boolean {
  return a.uuid === b.uuid || (a.memoryGroup !== undefined && a.memoryGroup === b.memoryGroup);
}

/**
 * Utilisation is a hint, which some drivers report as 100 % for an idle card. It counts only where processes, or memory that
 * no claim explains, show that the card is used.
 */
function isUsedByOthers({ holders, memoryTotalMb, memoryFreeMb }: Gpu, claimedMb: number): boolean {
  if (holders?.some(({ isClaimed }) => !isClaimed)) return true;
  if (memoryTotalMb === null || memoryFreeMb === null) return holders === undefined;
  return memoryTotalMb - memoryFreeMb - claimedMb > IDLE_MB;
}

/** The least utilised cards that fit, all of one maker: no program uses two makers' cards at once. */
export function chooseCards(cards: readonly Card[], need: GpuRequirement): Choice {
  const judged = cards.map((card) => ({ card, why: refusal(card, need) }));
  const fitting = judged
    .flatMap(({ card, why }) => (why === null ? [card] : []))
    .toSorted((a, b) => compareUse(a, b) || a.gpu.index - b.gpu.index);
  const groups = [...new Set(fitting.map(({ gpu }) => gpu.vendor))].map((vendor) =>
    fitting.filter(({ gpu }) => gpu.vendor === vendor),
  );
  const chosen = groups.find((group) => group.length >= need.count)?.slice(0, need.count) ?? [];
  const refused = judged.flatMap(({ card, why }) => (why === null ? [] : [{ gpu: card.gpu, why }]));
  return { chosen, fitting, refused };
}

/** The cards with one more job on the chosen ones. */
export function occupy(cards: readonly Card[], chosen: readonly Card[], need: GpuRequirement): Card[] {
  return cards.map((card) => {
    const sharing = chosen.filter(({ gpu }) => shareMemory(gpu, card.gpu));
    if (sharing.length === 0) return card;
    const freeMb = card.freeMb === null ? null : card.freeMb - need.memoryMb * sharing.length;
    if (!chosen.includes(card)) return { ...card, freeMb };
    return { ...card, freeMb, used: card.used + need.utilization, slots: card.slots + 1 };
  });
}

/** Who was on a card when it was measured is no fact about a slot, and would be recorded once per slot. */
export function slotCard({ holders: _, ...gpu }: Gpu): Gpu {
  return gpu;
}

function compareUse(a: Card, b: Card): number {
  return Number(a.gpu.utilization === null) - Number(b.gpu.utilization === null) || a.used - b.used;
}

/** Returns null if one more job fits on the card. */
function refusal(card: Card, need: GpuRequirement): CardRefusal | null {
  const { gpu } = card;
  if (!card.isAllowed) return { kind: "not-allowed" };
  if (gpu.unusable !== null) return { kind: "unusable", reason: gpu.unusable };
  if (card.isKeptFree) return { kind: "kept-free" };
  if (gpu.isMig && need.count > 1) return { kind: "slice" };
  return takenBy(card, need) ?? measureRefusal(card, need);
}

/** Processes of other users do not block a reserved card. The room they leave must be large enough. */
function takenBy(card: Card, need: GpuRequirement): CardRefusal | null {
  const isAlone = need.isReserved || card.gpu.isExclusive;
  const holder = card.claims.find(({ reservesGpu }) => reservesGpu || isAlone);
  if (holder !== undefined) return { kind: "taken", batch: holder.batch };
  if (isAlone && card.slots > 0) return { kind: "taken", batch: null };
  const mayBeHeld = card.isForeign || (card.gpu.holders === undefined && card.gpu.utilization !== 0);
  return card.gpu.isExclusive && mayBeHeld ? { kind: "exclusive-in-use" } : null;
}

function measureRefusal(card: Card, need: GpuRequirement): CardRefusal | null {
  if (card.freeMb === null && !card.gpu.sharesHostMemory) return { kind: "memory-unknown" };
  if (card.freeMb !== null && need.memoryMb > card.freeMb) {
    return { kind: "memory", neededMb: need.memoryMb, freeMb: card.freeMb };
  }
  if (card.used + need.utilization > MOST_UTILIZATION + ROUNDING) {
    return { kind: "utilization", needed: need.utilization, used: card.used };
  }
  return null;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
