// Chooses the cards for the next job. The room of a card is the room that the probe measured, minus the claims of other
// batches.

import type { GpuRequirement } from "../../model/job.js";
import type { Capacity, Claim, Gpu, MachineSpec } from "../../model/machine.js";
import type { CardRefusal, RefusedCard } from "./shortage.js";

/** The highest sum of utilization on a card. It may exceed 1, because few jobs use as much as they ask for. */
export const MOST_UTILIZATION = 1.2;
/** 0.4 + 0.8 is a little more than 1.2 in binary fractions. */
const ROUNDING = 1e-9;

/** A card while slots are being added to it. */
export interface Card {
  readonly gpu: Gpu;
  readonly isAllowed: boolean;
  readonly isKeptFree: boolean;
  /** Null if unknown, or if the card uses the memory of the host. */
  readonly freeMb: number | null;
  /** The share of its computing that is in use or promised. Unknown counts as 0, but such a card is chosen last. */
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
  const cards = capacity.gpus.map((gpu) => cardOf(spec, gpu, capacity.claims));
  // Of the usable cards, the least used are left for people, because a half-used card would be of little use to them.
  const usable = cards.filter((card) => refusal(card, need) === null);
  const kept = usable.toSorted((a, b) => compareUse(a, b) || b.gpu.index - a.gpu.index);
  const isKept = new Set(kept.slice(0, spec.keepFree.gpus));
  return cards.map((card) => (isKept.has(card) ? { ...card, isKeptFree: true } : card));
}

function cardOf(spec: MachineSpec, gpu: Gpu, allClaims: readonly Claim[]): Card {
  const claims = allClaims.filter(({ gpuUuids }) => gpuUuids.includes(gpu.uuid));
  // Counts the full claim, although the job may already hold some of it: in containers the owner of memory is unknown.
  const claimedMb = sum(claims.map(({ gpuMemoryMb }) => gpuMemoryMb));
  return {
    gpu,
    isAllowed: (spec.gpus?.includes(gpu.index) ?? true) && !spec.excludeGpus.includes(gpu.index),
    isKeptFree: false,
    freeMb: gpu.memoryFreeMb === null ? null : gpu.memoryFreeMb - claimedMb,
    used: (gpu.utilization ?? 0) + sum(claims.map(({ gpuUtilization }) => gpuUtilization)),
    claims,
    slots: 0,
  };
}

/** The least utilised cards that fit, all of one vendor, because no program uses cards of two vendors at once. */
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

export function occupy(card: Card, need: GpuRequirement): Card {
  return {
    ...card,
    freeMb: card.freeMb === null ? null : card.freeMb - need.memoryMb,
    used: card.used + need.utilization,
    slots: card.slots + 1,
  };
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
  return card.gpu.isExclusive && card.gpu.utilization !== 0 ? { kind: "exclusive-in-use" } : null;
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
