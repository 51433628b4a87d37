// Forecasts how many jobs a machine has room for, and on which cards: asks the allocator again and again, until a limit is
// reached. The machine decides anew when a job starts.

import type { GpuRequirement, ListedCard, Requirement } from "../../model/job.js";
import type { Capacity, Gpu, Slot } from "../../model/machine.js";
import type { Shortage } from "../../model/shortage.js";
import { countShortages, fitInto, type Grant, take } from "./allocate.js";
import { listSlots } from "./listed-cards.js";
import { type Asked, needOf, questionOn } from "./machine-question.js";
import { worldNow } from "./world.js";

/** The limit for jobs that ask for almost nothing. */
const MOST_SLOTS = 1000;

export interface SlotPlan {
  readonly slots: readonly Slot[];
  /** Every limit that prevents one more slot; never empty. */
  readonly shortages: readonly Shortage[];
}

export interface SlotQuestion extends Asked {
  readonly requirement: Requirement;
}

export function planSlots(asked: SlotQuestion): SlotPlan {
  const { spec, capacity, requirement } = asked;
  if (requirement.gpu?.listed !== undefined)
    return planListed(asked, requirement.gpu, requirement.gpu.listed);
  const need = needOf(requirement, capacity);
  const question = { ...questionOn(asked), needs: [need] };
  const slots: Slot[] = [];
  let world = worldNow(question);
  for (;;) {
    const { shortages: found, ...grant } = fitInto(question, need, world);
    const shortages = [...found.map((each) => ofPlan(each, slots)), ...limitOf(spec, slots.length)];
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

function limitOf({ mostSlots }: Asked["spec"], slots: number): Shortage[] {
  const limit = mostSlots ?? MOST_SLOTS;
  return slots < limit ? [] : [{ kind: "too-many", limit }];
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
    ...limitOf(spec, index),
  ];
  const allowed = slots.findIndex(({ index }) => reached(index).length > 0);
  if (allowed < 0)
    return { slots: slots.map(withoutHolders), shortages: [{ kind: "all-listed", count: listed.length }] };
  return { slots: slots.slice(0, allowed).map(withoutHolders), shortages: reached(allowed) };
}

function withoutHolders({ index, gpus }: Slot): Slot {
  return { index, gpus: gpus.map(slotCard) };
}
