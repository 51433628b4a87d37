// Makes the question of the allocator from a machine file, a probe and a requirement.

import type { Placing } from "../../model/batch.js";
import { findListed, isSuitable } from "../../model/card-choice.js";
import type { GpuRequirement, Requirement } from "../../model/job.js";
import type { Capacity, CardHolder, Claim, Gpu, MachineSpec } from "../../model/machine.js";
import { type CardNeed, type Need, type Question, type RoomCard, type RoomClaim, sum } from "./question.js";

/** A driver holds less than this on a card that no process uses. */
const IDLE_MB = 600;

export interface Asked {
  readonly spec: MachineSpec;
  readonly capacity: Capacity;
  readonly placing?: Placing | undefined;
  /** The run stays open: jobs that ask for nothing are bounded, too, and those to come may have other needs. */
  readonly staysOpen?: boolean;
}

/** Without needs. The batch is no batch with claims: a forecast counts the claims of other batches. */
export function questionOn({ spec, capacity, placing = {} }: Asked): Question {
  const { cpus, memory, gpus, claims } = capacity;
  const { memoryMb, cpus: keptCpus, gpus: cards } = spec.keepFree;
  return {
    batch: "",
    account: "",
    packs: placing.packs ?? false,
    isPolite: placing.isPolite ?? false,
    memoryFreeMb: memory && Math.floor(memory.freeMb),
    coresMilli: cpus && { total: milli(cpus.total), busy: Math.max(0, milli(cpus.total - cpus.free)) },
    keep: { memoryMb: Math.ceil(memoryMb), coresMilli: milli(keptCpus), cards },
    maxJobs: spec.maxJobs,
    cards: gpus.map((gpu) => cardOf(gpu, spec, capacity)),
    instances: Object.entries(spec.resources ?? {}).flatMap(([name, instances]) =>
      Object.entries(instances).map(([instance, capacity]) => ({
        name,
        instance,
        capacityMilli: milli(capacity),
      })),
    ),
    claims: claims.map(claimOf),
    needs: [],
  };
}

export function needOf(
  { cpus, memoryMb, gpu, reservesMachine, resources = {} }: Requirement,
  { gpus }: Pick<Capacity, "gpus">,
  key = "",
): Need {
  return {
    key,
    memoryMb: Math.ceil(memoryMb),
    coresMilli: milli(cpus),
    reservesMachine,
    cards: gpu && cardNeedOf(gpu, gpus),
    wants: Object.entries(resources).map(([name, amounts]) => ({ name, amounts: amounts.map(milli) })),
  };
}

function cardNeedOf(need: GpuRequirement, gpus: readonly Gpu[]): CardNeed {
  const all = milli(need.count);
  return {
    whole: Math.floor(all / 1000),
    partMilli: all % 1000,
    memoryMb: Math.ceil(need.memoryMb),
    shareMilli: milli(need.utilization),
    isAlone: need.isReserved,
    candidates: candidatesOf(need, gpus),
    isListed: need.listed !== undefined,
  };
}

function candidatesOf(need: GpuRequirement, gpus: readonly Gpu[]): string[] | null {
  const { listed, model, memoryTotalMb } = need;
  if (listed === undefined && model === undefined && memoryTotalMb === undefined) return null;
  const wanted = listed === undefined ? gpus : findListed(gpus, listed).flatMap(({ gpu }) => gpu ?? []);
  return wanted.filter((gpu) => isSuitable(gpu, need)).map(({ uuid }) => uuid);
}

function cardOf(gpu: Gpu, spec: MachineSpec, { claims }: Capacity): RoomCard {
  const { index, uuid, vendor, isExclusive, sharesHostMemory, isMig, unusable, memoryGroup } = gpu;
  const claimedMb = claimedMemoryMb(uuid, claims);
  const isForeign = isUsedByOthers(gpu, claimedMb);
  // Only of an exclusive card it matters that a process may be there.
  const mayBeHeld = isExclusive && gpu.holders === undefined && gpu.utilization !== 0;
  return {
    index,
    uuid,
    maker: vendor,
    totalMb: gpu.memoryTotalMb === null ? null : Math.floor(gpu.memoryTotalMb),
    freeMb: gpu.memoryFreeMb === null ? null : Math.floor(gpu.memoryFreeMb),
    useMilli: gpu.utilization === null ? null : milli(gpu.utilization),
    isExclusive,
    sharesHostMemory,
    isMig,
    isTrusted: false,
    isForeign: isForeign || mayBeHeld,
    isOfPerson: isUsedByOthers(withoutOwn(gpu), claimedMb + ownMemoryMb(gpu)),
    unusable,
    isExcluded: !isAllowed(spec, index),
    group: memoryGroup ?? null,
  };
}

export function isAllowed(
  { gpus, excludeGpus }: Pick<MachineSpec, "gpus" | "excludeGpus">,
  index: number,
): boolean {
  return (gpus?.includes(index) ?? true) && !excludeGpus.includes(index);
}

function claimedMemoryMb(uuid: string, claims: readonly Claim[]): number {
  const cards = claims.flatMap((claim) => claim.cards.filter((card) => card.uuid === uuid));
  return sum(cards.map(({ memoryMb, usedMb }) => Math.max(memoryMb, usedMb ?? 0)));
}

/**
 * Utilisation is a hint, which some drivers report as 100 % for an idle card. It counts only where processes, or memory that
 * no claim explains, show that the card is used.
 */
function isUsedByOthers(
  { holders, memoryTotalMb, memoryFreeMb }: Pick<Gpu, "holders" | "memoryTotalMb" | "memoryFreeMb">,
  claimedMb: number,
): boolean {
  if (holders?.some(({ isClaimed }) => !isClaimed)) return true;
  if (memoryTotalMb === null || memoryFreeMb === null) return holders === undefined;
  return memoryTotalMb - memoryFreeMb - claimedMb > IDLE_MB;
}

/** This account's processes that are no jobs. */
function withoutOwn({ holders, ...gpu }: Gpu): Pick<Gpu, "holders" | "memoryTotalMb" | "memoryFreeMb"> {
  return { ...gpu, ...(holders && { holders: holders.filter((holder) => !isOwnOther(holder)) }) };
}

function ownMemoryMb({ holders = [] }: Gpu): number {
  return sum(holders.filter(isOwnOther).map(({ memoryMb }) => memoryMb ?? 0));
}

function isOwnOther({ isOwn, isClaimed }: CardHolder): boolean {
  return isOwn === true && !isClaimed;
}

function claimOf({
  owner,
  batch,
  job,
  memoryMb,
  residentMb,
  cpus,
  cards,
  resources,
  reservesMachine,
}: Claim): RoomClaim {
  return {
    owner,
    batch,
    job,
    memoryMb: Math.ceil(memoryMb),
    usedMb: Math.floor(residentMb),
    coresMilli: milli(cpus),
    reservesMachine,
    cards: cards.map(({ uuid, memoryMb, share, amount, usedMb }) => ({
      uuid,
      memoryMb: Math.ceil(memoryMb),
      shareMilli: milli(share),
      amountMilli: milli(amount),
      usedMb: usedMb && Math.floor(usedMb),
    })),
    resources: resources.map(({ name, instance, amount }) => ({ name, instance, milli: milli(amount) })),
  };
}

/** Rounded once, so that sums are exact. */
function milli(amount: number): number {
  return Math.round(amount * 1000);
}
