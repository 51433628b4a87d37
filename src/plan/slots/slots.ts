// Forecasts how many jobs a machine has room for, and on which cards: asks the allocator again and again, until a limit is
// reached. The machine decides anew when a job starts.

import type { GpuRequirement, ListedCard, Requirement } from "../../model/job.js";
import type { Capacity, Gpu, Slot } from "../../model/machine.js";
import type { Shortage } from "../../model/shortage.js";
import { countShortages, fitInto, type Grant, take } from "./allocate.js";
import { listSlots } from "./listed-cards.js";
import { type Asked, needOf, questionOn } from "./machine-question.js";
import { sum } from "./question.js";
import { worldNow } from "./world.js";

/** The limit for jobs that ask for almost nothing. */
const MOST_SLOTS = 1000;
/** The limit for jobs that ask for nothing, on a machine of few cores. */
const MOST_FREE_SLOTS = 16;
const FREE_SLOTS_PER_CORE = 4;

export interface SlotPlan {
  readonly slots: readonly Slot[];
  /** Every limit that prevents one more slot; never empty. */
  readonly shortages: readonly Shortage[];
}

export interface SlotQuestion extends Asked {
  readonly requirement: Requirement;
}

export function planSlots(asked: SlotQuestion): SlotPlan {
  const { capacity, requirement } = asked;
  if (requirement.gpu?.listed !== undefined)
    return planListed(asked, requirement.gpu, requirement.gpu.listed);
  const need = needOf(requirement, capacity);
  const question = { ...questionOn(asked), needs: [need] };
  const slots: Slot[] = [];
  let world = worldNow(question);
  for (;;) {
    const { shortages: found, ...grant } = fitInto(question, need, world);
    const shortages = [...found.map((each) => ofPlan(each, slots)), ...limitOf(asked, slots.length)];
    if (shortages.length > 0) return { slots, shortages };
    slots.push({ index: slots.length, gpus: cardsOf(grant, capacity) });
    world = { ...take(world, need, grant), jobs: world.jobs + 1 };
  }
}

/** The same on the machine as if nothing used it. Without slots there, such a job can never run on it. */
export function slotsWhenEmpty(asked: SlotQuestion): SlotPlan {
  return planSlots({ ...asked, capacity: emptied(asked.capacity) });
}

export function emptied(capacity: Capacity): Capacity {
  const { cpus, memory, gpus } = capacity;
  return {
    ...capacity,
    cpus: cpus && { ...cpus, free: cpus.total },
    memory: memory && { ...memory, freeMb: memory.totalMb ?? memory.freeMb },
    gpus: gpus.map((gpu) => ({
      ...gpu,
      memoryFreeMb: gpu.memoryTotalMb ?? gpu.memoryFreeMb,
      utilization: gpu.utilization === null ? null : 0,
      holders: [],
    })),
    claims: [],
  };
}

/** A machine that no claim reserves is reserved by the plan's own slot. */
function ofPlan(shortage: Shortage, slots: readonly Slot[]): Shortage {
  return shortage.kind === "machine-claimed" && slots.length > 0 ? { kind: "machine-reserved" } : shortage;
}

function limitOf(asked: SlotQuestion, slots: number): Shortage[] {
  const { spec, requirement, staysOpen } = asked;
  const limit = spec.mostSlots ?? (staysOpen && asksNothing(requirement) ? mostFree(asked) : MOST_SLOTS);
  return slots < limit ? [] : [{ kind: "too-many", limit }];
}

function asksNothing({ cpus, memoryMb, gpu, reservesMachine, resources = {} }: Requirement): boolean {
  return cpus + memoryMb + Object.keys(resources).length === 0 && gpu === null && !reservesMachine;
}

function mostFree({ capacity }: Asked): number {
  return Math.max(MOST_FREE_SLOTS, FREE_SLOTS_PER_CORE * (capacity.cpus?.total ?? 0));
}

/** How many slots a machine may come to have for jobs whose needs are not known yet. Small parts of a resource fit. */
export function mostSlotsToCome(asked: Asked): number {
  const instances = Object.values(asked.spec.resources ?? {}).flatMap((each) => Object.values(each));
  const parts = instances.map((capacity) => Math.min(MOST_FREE_SLOTS, Math.ceil(capacity * 4)));
  return Math.min(MOST_SLOTS, mostFree(asked) + sum(parts));
}

function cardsOf({ cards }: Grant, { gpus }: Capacity): Gpu[] {
  return cards.flatMap(({ uuid }) => gpus.filter((gpu) => gpu.uuid === uuid)).map(slotCard);
}

/** Who was on a card when it was measured is no fact about a slot, and would be recorded once per slot. */
function slotCard({ holders: _, ...gpu }: Gpu): Gpu {
  return gpu;
}

/** One slot per listed card, even if it is busy: its job waits on the machine. The parts of others still count. */
function planListed(asked: SlotQuestion, need: GpuRequirement, listed: readonly ListedCard[]): SlotPlan {
  const { spec, capacity, requirement } = asked;
  const { slots, shortages } = listSlots(spec, capacity, need, listed);
  if (shortages.length > 0) return { slots, shortages };
  const question = questionOn(asked);
  const world = worldNow(question);
  const reached = (index: number) => [
    ...countShortages(question, requirement, { ...world, jobs: world.jobs + index }),
    ...(requirement.reservesMachine && index > 0 ? [{ kind: "machine-reserved" } as const] : []),
    ...limitOf(asked, index),
  ];
  const allowed = slots.findIndex(({ index }) => reached(index).length > 0);
  if (allowed < 0)
    return { slots: slots.map(withoutHolders), shortages: [{ kind: "all-listed", count: listed.length }] };
  return { slots: slots.slice(0, allowed).map(withoutHolders), shortages: reached(allowed) };
}

function withoutHolders({ index, gpus }: Slot): Slot {
  return { index, gpus: gpus.map(slotCard) };
}
