// Slots for a batch whose jobs have different requirements. Each kind gets as many slots as if it were alone. The
// machine decides which slots work at the same time: their claims together must not exceed the room of the batch.

import { type Job, kindOf, type Requirement } from "../../model/job.js";
import type { Capacity, MachineSpec, SharedRoom, Slot } from "../../model/machine.js";
import { MOST_USE_MILLI, refusal } from "./cards.js";
import { needOf, questionOn } from "./machine-question.js";
import { planSlots, type SlotPlan } from "./slots.js";
import { type CardRoom, CPU_OVERLOAD_MILLI, worldNow } from "./world.js";

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
  return Math.min(spec.maxJobs ?? mostJobs, mostJobs) * cpus + spec.keepFree.cpus > CPU_OVERLOAD_MILLI / 1000;
}

/** The same cards are left for people for every kind: the best of those that fit the first kind with cards. */
function keepFor({ spec, capacity, requirement, kinds }: KindsQuestion): MachineSpec {
  const all = [...kinds.values()].map((own) => own ?? requirement);
  const first = all.find(({ gpu }) => gpu !== null);
  const need = first === undefined ? null : needOf(first, capacity).cards;
  if (need === null || kinds.size === 1 || spec.keepFree.gpus === 0) return spec;
  const question = questionOn({ spec, capacity });
  const world = worldNow(question);
  const part = { shareMilli: need.shareMilli, amountMilli: need.isAlone ? 1000 : 0 };
  const fitting = world.cards.filter((room) => refusal({ question, world, need }, room, part) === null);
  const kept = fitting.toSorted(compareUse).slice(0, spec.keepFree.gpus);
  return {
    ...spec,
    excludeGpus: [...spec.excludeGpus, ...kept.map(({ card }) => card.index)],
    keepFree: { ...spec.keepFree, gpus: 0 },
  };
}

function compareUse(a: CardRoom, b: CardRoom): number {
  const isUnknown = ({ card }: CardRoom) => Number(card.useMilli === null);
  return isUnknown(a) - isUnknown(b) || a.shareMilli - b.shareMilli || b.card.index - a.card.index;
}

function roomFor(slot: Slot, { spec, capacity, requirement: common }: KindsQuestion): SharedRoom {
  const requirement = slot.requirement ?? common;
  const { coresMilli, cards } = worldNow(questionOn({ spec, capacity }));
  return {
    cpus: ((coresMilli ?? 0) + CPU_OVERLOAD_MILLI) / 1000,
    jobs: spec.maxJobs === null ? null : spec.maxJobs - capacity.claims.length,
    cards: slot.gpus.map(({ uuid, isExclusive }) => {
      const room = cards.find(({ card }) => card.uuid === uuid);
      // On a card that allows only one process, other jobs get no share.
      const utilization = isExclusive
        ? (requirement.gpu?.utilization ?? 0)
        : (MOST_USE_MILLI - (room?.shareMilli ?? 0)) / 1000;
      return { memoryMb: room?.freeMb ?? null, utilization };
    }),
  };
}
