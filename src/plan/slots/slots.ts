// Computes how many jobs a machine has room for, and on which cards. Adds slots one by one while every limit holds.

import type { GpuRequirement, ListedCard, Requirement } from "../../model/job.js";
import type { Capacity, Claim, MachineSpec, Slot } from "../../model/machine.js";
import { type Card, type Choice, cardsOf, chooseCards, occupy, slotCard } from "./cards.js";
import { listSlots } from "./listed-cards.js";
import type { Shortage } from "./shortage.js";

/** A small overload is acceptable, because few jobs use their cores all the time. */
export const CPU_OVERLOAD = 2;
/** The limit for jobs that ask for almost nothing. */
const MOST_SLOTS = 1000;
const ROUNDING = 1e-9;

export interface SlotPlan {
  readonly slots: readonly Slot[];
  /** Every limit that prevents one more slot; never empty. */
  readonly shortages: readonly Shortage[];
}

export interface SlotQuestion {
  readonly spec: MachineSpec;
  readonly capacity: Capacity;
  readonly requirement: Requirement;
}

/** The room that is left while slots are being added; null: unknown. */
export interface Room {
  readonly memoryMb: number | null;
  readonly cpus: number | null;
  readonly cards: readonly Card[];
}

export function planSlots(question: SlotQuestion): SlotPlan {
  const { requirement } = question;
  if (requirement.gpu?.listed !== undefined)
    return planListed(question, requirement.gpu, requirement.gpu.listed);
  const slots: Slot[] = [];
  let room = roomOn(question);
  for (;;) {
    const choice = requirement.gpu === null ? NO_CARDS : choiceIn(room, requirement.gpu, requirement);
    const neededMb = requirement.memoryMb + hostMemoryOf(choice.chosen, requirement.gpu);
    const shortages = [
      ...countShortages(question, slots.length),
      ...roomShortages(room, neededMb, requirement.cpus),
      ...cardShortages(choice, requirement.gpu),
    ];
    if (shortages.length > 0) return { slots, shortages };
    slots.push({ index: slots.length, gpus: choice.chosen.map(({ gpu }) => slotCard(gpu)) });
    room = withoutSlot(room, neededMb, choice.chosen, requirement);
  }
}

/** The parts that people and other batches keep still count. */
function planListed(question: SlotQuestion, need: GpuRequirement, listed: readonly ListedCard[]): SlotPlan {
  const { spec, capacity } = question;
  const { slots, shortages } = listSlots(spec, capacity, need, listed);
  if (shortages.length > 0) return { slots, shortages };
  const allowed = slots.findIndex(({ index }) => countShortages(question, index).length > 0);
  if (allowed < 0) return { slots, shortages: [{ kind: "all-listed", count: listed.length }] };
  return { slots: slots.slice(0, allowed), shortages: countShortages(question, allowed) };
}

export function roomOn({ spec, capacity, requirement }: SlotQuestion): Room {
  const cards = requirement.gpu === null ? [] : cardsOf(spec, capacity, requirement.gpu);
  const { memory, cpus, claims } = capacity;
  return {
    memoryMb: memory && memory.freeMb - spec.keepFree.memoryMb - unheldMemoryMb(claims, capacity),
    cpus: cpus && cpus.total - spec.keepFree.cpus - takenCpus(cpus, claims),
    cards,
  };
}

/** Memory that a job holds is already missing from the measured free memory. Only the rest of its claim is subtracted. */
function unheldMemoryMb(claims: readonly Claim[], { gpus }: Capacity): number {
  const shared = new Set(gpus.filter(({ sharesHostMemory }) => sharesHostMemory).map(({ uuid }) => uuid));
  return claims.reduce((sum, claim) => {
    const sharedCards = claim.gpuUuids.filter((uuid) => shared.has(uuid)).length;
    return sum + Math.max(0, claim.memoryMb - claim.residentMb) + sharedCards * claim.gpuMemoryMb;
  }, 0);
}

/**
 * The cores of a running job may be part of the measured load. So the larger of load and claim counts, not their sum. A
 * claim without a job cannot be part of the load.
 */
function takenCpus({ total, free }: { total: number; free: number }, claims: readonly Claim[]): number {
  const running = claims.filter(({ residentMb }) => residentMb > 0);
  const idle = claims.filter(({ residentMb }) => residentMb <= 0);
  return Math.max(total - free, sumCpus(running)) + sumCpus(idle);
}

function sumCpus(claims: readonly Claim[]): number {
  return claims.reduce((sum, { cpus }) => sum + cpus, 0);
}

const NO_CARDS: Choice = { chosen: [], fitting: [], refused: [] };

/** A job that reserves the machine gets every suitable card. */
function choiceIn({ cards }: Room, need: GpuRequirement, { reservesMachine }: Requirement): Choice {
  const choice = chooseCards(cards, need);
  return reservesMachine && choice.chosen.length > 0 ? { ...choice, chosen: choice.fitting } : choice;
}

/** Cards without memory of their own use the host's memory. */
function hostMemoryOf(cards: readonly Card[], need: GpuRequirement | null): number {
  if (need === null) return 0;
  return Math.min(need.count, cards.filter(({ gpu }) => gpu.sharesHostMemory).length) * need.memoryMb;
}

function countShortages({ spec, capacity, requirement }: SlotQuestion, slots: number): Shortage[] {
  const { claims } = capacity;
  const shortages: Shortage[] = [];
  const owner = claims.find(({ reservesMachine }) => reservesMachine);
  const [other] = claims;
  if (owner !== undefined) shortages.push({ kind: "machine-claimed", batch: owner.batch });
  else if (requirement.reservesMachine && other !== undefined)
    shortages.push({ kind: "machine-in-use", batch: other.batch });
  if (requirement.reservesMachine && slots > 0) shortages.push({ kind: "machine-reserved" });
  if (spec.maxJobs !== null && slots + claims.length >= spec.maxJobs)
    shortages.push({ kind: "max-jobs", maxJobs: spec.maxJobs, claimed: claims.length });
  const limit = spec.mostSlots ?? MOST_SLOTS;
  if (slots >= limit) shortages.push({ kind: "too-many", limit });
  return shortages;
}

function roomShortages(room: Room, neededMb: number, cpus: number): Shortage[] {
  const shortages: Shortage[] = [];
  if (room.memoryMb === null) shortages.push({ kind: "memory-unknown" });
  else if (neededMb > room.memoryMb)
    shortages.push({ kind: "memory", neededMb, freeMb: Math.max(0, room.memoryMb) });
  if (room.cpus === null) shortages.push({ kind: "cpus-unknown" });
  else if (cpus > room.cpus + CPU_OVERLOAD + ROUNDING)
    shortages.push({ kind: "cpus", needed: cpus, free: room.cpus });
  return shortages;
}

function cardShortages({ chosen, fitting, refused }: Choice, need: GpuRequirement | null): Shortage[] {
  if (need === null || chosen.length >= need.count) return [];
  return [{ kind: "gpus", needed: need.count, available: fitting.length, refused }];
}

function withoutSlot(
  room: Room,
  neededMb: number,
  chosen: readonly Card[],
  { cpus, gpu }: Requirement,
): Room {
  return {
    memoryMb: room.memoryMb === null ? null : room.memoryMb - neededMb,
    cpus: room.cpus === null ? null : room.cpus - cpus,
    cards: gpu === null ? room.cards : occupy(room.cards, chosen, gpu),
  };
}
