// Slots for a batch whose jobs have different requirements. Each kind gets as many slots as if it were alone. The
// machine decides which slots work at the same time: their claims together must not exceed the room of the batch.

import { type Job, kindOf, type Requirement } from "../../model/job.js";
import type { Capacity, MachineSpec, SharedRoom, Slot } from "../../model/machine.js";
import { cardsOf, MOST_UTILIZATION } from "./cards.js";
import { CPU_OVERLOAD, planSlots, roomOn, type SlotPlan } from "./slots.js";

/** By the kind's name, in the order of the jobs; undefined: the requirement of the batch. */
export type Kinds = ReadonlyMap<string, Requirement | undefined>;

/** Jobs that have not arrived yet use the requirement of the batch. */
export function kindsOf(jobs: Iterable<Job>): Kinds {
  const kinds = new Map<string, Requirement | undefined>();
  for (const { requirement } of jobs) {
    const kind = kindOf(requirement);
    if (!kinds.has(kind)) kinds.set(kind, requirement);
  }
  if (kinds.size === 0) kinds.set(kindOf(undefined), undefined);
  return kinds;
}

export interface KindsQuestion {
  readonly spec: MachineSpec;
  readonly capacity: Capacity;
  /** The requirement of the batch. */
  readonly requirement: Requirement;
  readonly kinds: Kinds;
  /** Slots that an earlier client created. */
  readonly past?: readonly Slot[];
}

export interface KindsPlan {
  readonly slots: readonly Slot[];
  /** Kinds without a slot, each with the reason. */
  readonly short: readonly {
    readonly kind: string;
    readonly requirement: Requirement;
    readonly plan: SlotPlan;
  }[];
}

export function planKinds(question: KindsQuestion): KindsPlan {
  const { kinds, requirement: common, past = [] } = question;
  const served = new Set(past.map((slot) => kindOf(slot.requirement)));
  const missing = [...kinds].filter(([kind]) => !served.has(kind));
  const plans = missing.map(([kind, own]) => {
    const requirement = own ?? common;
    return { kind, own, requirement, plan: planSlots({ ...question, spec: keepFor(question), requirement }) };
  });
  const slots = [...past];
  for (const { own, plan } of plans) {
    for (const { gpus } of plan.slots)
      slots.push({ index: slots.length, gpus, ...(own && { requirement: own }) });
  }
  const isMixed = slots.some(({ requirement }) => requirement !== undefined);
  return {
    slots: isMixed ? slots.map((slot) => ({ ...slot, room: roomFor(slot, question) })) : slots,
    short: plans.filter(({ plan }) => plan.slots.length === 0),
  };
}

/** True if the load of the cores matters. False if even the most jobs at once stay within the allowed overload. */
export function mustKnowCpuUse(
  { spec, requirement, kinds }: Omit<KindsQuestion, "capacity">,
  mostJobs: number,
): boolean {
  const cpus = Math.max(...[...kinds.values()].map((own) => (own ?? requirement).cpus));
  return Math.min(spec.maxJobs ?? mostJobs, mostJobs) * cpus + spec.keepFree.cpus > CPU_OVERLOAD;
}

/** The same cards are left for people for every kind: those that the first kind with cards leaves. */
function keepFor({ spec, capacity, requirement, kinds }: KindsQuestion): MachineSpec {
  const needs = [...kinds.values()].map((own) => (own ?? requirement).gpu);
  const need = needs.find((gpu) => gpu !== null) ?? null;
  if (need === null || kinds.size === 1 || spec.keepFree.gpus === 0) return spec;
  const kept = cardsOf(spec, capacity, need).filter(({ isKeptFree }) => isKeptFree);
  return {
    ...spec,
    excludeGpus: [...spec.excludeGpus, ...kept.map(({ gpu }) => gpu.index)],
    keepFree: { ...spec.keepFree, gpus: 0 },
  };
}

function roomFor(slot: Slot, { spec, capacity, requirement: common }: KindsQuestion): SharedRoom {
  const requirement = slot.requirement ?? common;
  const { cpus, cards } = roomOn({ spec, capacity, requirement });
  return {
    cpus: (cpus ?? 0) + CPU_OVERLOAD,
    jobs: spec.maxJobs === null ? null : spec.maxJobs - capacity.claims.length,
    cards: slot.gpus.map(({ uuid, isExclusive }) => {
      const card = cards.find(({ gpu }) => gpu.uuid === uuid);
      // On a card that allows only one process, other jobs get no share.
      const utilization = isExclusive
        ? (requirement.gpu?.utilization ?? 0)
        : MOST_UTILIZATION - (card?.used ?? 0);
      return { memoryMb: card?.freeMb ?? null, utilization };
    }),
  };
}
