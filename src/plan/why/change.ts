// The nearest need that would fit: one number of it is lowered to what there is.

import type { Requirement } from "../../model/job.js";
import { withoutPool } from "../../model/resource.js";
import type { Shortage } from "../../model/shortage.js";
import type { Change } from "../../model/why.js";
import { slotsWhenEmpty } from "../slots/slots.js";
import { type Verdict, verdictOn, type WaitingOn } from "./verdict.js";

export interface Judged {
  readonly waiting: WaitingOn;
  readonly verdict: Verdict;
}

/** What would start now. If no machine can ever take the job: what would fit on an empty one. Null: no single number decides. */
export function nearestChange(judged: readonly Judged[]): Change | null {
  const waits = judged.filter(({ verdict }) => verdict.kind === "waits");
  if (waits.length < judged.length) return null;
  const isNever = waits.every(({ verdict }) => verdict.kind === "waits" && verdict.isNever);
  const found = waits.flatMap(({ waiting, verdict }) => changesOn(waiting, verdict, !isNever));
  const [best] = found.sort((one, other) => other.part - one.part);
  return best?.change ?? null;
}

interface Candidate {
  readonly change: Change;
  /** How much of the need is left. */
  readonly part: number;
}

function changesOn(waiting: WaitingOn, verdict: Verdict, isNow: boolean): Candidate[] {
  if (verdict.kind === "starts" || (isNow && verdict.isNever)) return [];
  const { spec, capacity, placing, need } = waiting;
  const isEnough = (requirement: Requirement) =>
    isNow
      ? verdictOn({ ...waiting, need: { ...need, requirement } }).kind === "starts"
      : slotsWhenEmpty({ spec, capacity, placing, requirement }).slots.length > 0;
  return verdict.shortages
    .flatMap((shortage) => smallerNeeds(need.requirement, shortage))
    .filter(({ requirement }) => isEnough(requirement))
    .map(({ what, name, amount, part }) => ({
      part,
      change: { what, ...(name !== undefined && { name }), amount, machine: spec.name, isNow },
    }));
}

interface Smaller extends Pick<Change, "what" | "name" | "amount"> {
  readonly requirement: Requirement;
  readonly part: number;
}

const OVERLOAD = 2;

function smallerNeeds(requirement: Requirement, shortage: Shortage): Smaller[] {
  switch (shortage.kind) {
    case "memory":
      return smaller("memory", shortage.neededMb, shortage.freeMb, (spare) => {
        // The need may include memory of cards that have none of their own.
        const memoryMb = requirement.memoryMb - (shortage.neededMb - spare);
        return memoryMb > 0 ? { ...requirement, memoryMb } : null;
      });
    case "cpus":
      return smaller("cores", shortage.needed, Math.floor((shortage.free + OVERLOAD) * 10) / 10, (cpus) => ({
        ...requirement,
        cpus,
      }));
    case "gpus":
      return smallerCards(requirement, shortage);
    case "resource":
      return smaller("resource", shortage.needed, shortage.free, (amount) => ({
        ...requirement,
        resources: { ...requirement.resources, [shortage.name]: [amount] },
      })).map((each) => ({ ...each, name: withoutPool(shortage.name) }));
    default:
      return [];
  }
}

function smallerCards(
  requirement: Requirement,
  { needed, available, refused }: Extract<Shortage, { kind: "gpus" }>,
): Smaller[] {
  const { gpu } = requirement;
  if (gpu === null) return [];
  const free = refused
    .flatMap(({ why }) => (why.kind === "memory" ? [why.freeMb] : []))
    .sort((one, other) => other - one);
  const missing = Math.ceil(needed) - available;
  return [
    ...smaller("card memory", gpu.memoryMb, free[missing - 1] ?? 0, (memoryMb) => ({
      ...requirement,
      gpu: { ...gpu, memoryMb },
    })),
    ...smaller("cards", needed, available, (count) => ({ ...requirement, gpu: { ...gpu, count } })),
  ];
}

function smaller(
  what: Change["what"],
  needed: number,
  amount: number,
  change: (amount: number) => Requirement | null,
): Smaller[] {
  if (amount <= 0 || amount >= needed) return [];
  const requirement = change(amount);
  return requirement === null ? [] : [{ what, amount, requirement, part: amount / needed }];
}
