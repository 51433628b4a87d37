// Whether a waiting job would start on a machine as it was measured, or what it lacks. Asks the allocator as a slot would.

import type { Placing } from "../../model/batch.js";
import type { Requirement } from "../../model/job.js";
import type { Capacity, MachineSpec } from "../../model/machine.js";
import type { Shortage } from "../../model/shortage.js";
import { allocate, type Grant } from "../slots/allocate.js";
import { needOf, questionOn } from "../slots/machine-question.js";
import type { Need, RoomClaim } from "../slots/question.js";
import { slotsWhenEmpty } from "../slots/slots.js";

export interface WaitingNeed {
  /** The label of its first waiting job. */
  readonly key: string;
  readonly requirement: Requirement;
  /** How many jobs wait with it. */
  readonly count: number;
}

export interface WaitingOn {
  readonly spec: MachineSpec;
  readonly capacity: Capacity;
  readonly placing: Placing | undefined;
  readonly batch: string;
  readonly need: WaitingNeed;
  /** Needs of jobs that wait longer, in their order. */
  readonly earlier: readonly WaitingNeed[];
}

export type Verdict =
  | { readonly kind: "starts" }
  | {
      readonly kind: "waits";
      readonly shortages: readonly Shortage[];
      /** Also the empty machine has no room for it. */
      readonly isNever: boolean;
    };

export function verdictOn(waiting: WaitingOn): Verdict {
  const { spec, capacity, placing, need } = waiting;
  const empty = slotsWhenEmpty({ spec, capacity, placing, requirement: need.requirement });
  if (empty.slots.length === 0) return { kind: "waits", shortages: empty.shortages, isNever: true };
  const shortages = shortagesNow(waiting);
  return shortages.length === 0 ? { kind: "starts" } : { kind: "waits", shortages, isNever: false };
}

/** Earlier jobs that fit start first; what is left after them counts. */
function shortagesNow({ spec, capacity, placing, batch, need, earlier }: WaitingOn): readonly Shortage[] {
  let question = { ...questionOn({ spec, capacity, placing }), batch };
  const left = earlier.map((each) => ({ ...each }));
  for (;;) {
    const waiting = [...left.filter(({ count }) => count > 0), need];
    const needs = waiting.map(({ key, requirement }) => needOf(requirement, capacity, key));
    const { start, waits } = allocate({ ...question, needs });
    if (start === null || start.need.key === need.key)
      return waits.find(({ need: { key } }) => key === need.key)?.shortages ?? [];
    const started = left.find(({ key }) => key === start.need.key);
    if (started === undefined) return [];
    started.count -= 1;
    question = { ...question, claims: [...question.claims, claimFor(start, batch)] };
  }
}

function claimFor({ need, grant }: { need: Need; grant: Grant }, batch: string): RoomClaim {
  return {
    owner: "",
    batch,
    job: need.key,
    memoryMb: need.memoryMb,
    usedMb: 0,
    coresMilli: need.coresMilli,
    reservesMachine: need.reservesMachine,
    cards: grant.cards.map((card) => ({ ...card, usedMb: 0 })),
    resources: grant.gots.map(({ name, instance, milli }) => ({ name, instance, milli })),
  };
}
