// Which jobs a machine can run, for a batch whose jobs have different requirements, and a forecast of its slots. Every slot
// takes any job: the machine decides when a job starts.

import type { Placing } from "../../model/batch.js";
import { type Job, kindOf, type Requirement } from "../../model/job.js";
import type { Capacity, MachineSpec, Slot } from "../../model/machine.js";
import { nearestFit } from "./nearest-fit.js";
import { planSlots, type SlotPlan, slotsWhenEmpty } from "./slots.js";
import { CPU_OVERLOAD_MILLI } from "./world.js";

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
  readonly placing?: Placing | undefined;
  /** The requirement of the batch. */
  readonly requirement: Requirement;
  readonly kinds: Kinds;
  /** Slots that an earlier client created. */
  readonly past?: readonly Slot[];
}

export interface KindsPlan extends Served {
  /** For the first kind that the machine serves; at least one. Empty: it serves none. */
  readonly slots: readonly Slot[];
  /** No job fits now: one slot waits for room. */
  readonly isFull: boolean;
}

export interface Served {
  /** The kinds that the machine could run if nothing else used it. */
  readonly serves: readonly string[];
  /** The other kinds, each with the reason. They can never run there. */
  readonly short: readonly {
    readonly kind: string;
    readonly requirement: Requirement;
    readonly plan: SlotPlan;
    /** Changes of the need that would make it fit, each by itself. */
    readonly nearest: readonly string[];
  }[];
}

export function planKinds(question: KindsQuestion): KindsPlan {
  const { kinds, requirement: common, past = [] } = question;
  const served = judgeKinds(question);
  const [first] = served.serves;
  // They may have jobs, whatever the machine could begin now.
  if (past.length > 0) return { slots: past, isFull: false, ...served };
  if (first === undefined) return { slots: [], isFull: false, ...served };
  const asked = { ...question, requirement: kinds.get(first) ?? common };
  const { slots } = planSlots(asked);
  const isFull = slots.length === 0;
  // A machine that is full now may have room later: its jobs wait there.
  return { slots: isFull ? slotsWhenEmpty(asked).slots.slice(0, 1) : slots, isFull, ...served };
}

export function judgeKinds(question: KindsQuestion): Served {
  const { spec, kinds, requirement: common } = question;
  const judged = [...kinds].map(([kind, own]) => {
    // One slot is enough to know.
    const asked = { ...question, spec: { ...spec, mostSlots: 1 }, requirement: own ?? common };
    const plan = slotsWhenEmpty(asked);
    const nearest = plan.slots.length > 0 ? [] : nearestFit(asked);
    return { kind, requirement: asked.requirement, plan, nearest };
  });
  return {
    serves: judged.filter(({ plan }) => plan.slots.length > 0).map(({ kind }) => kind),
    short: judged.filter(({ plan }) => plan.slots.length === 0),
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
