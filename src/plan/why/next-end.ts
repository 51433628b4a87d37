// Which running job makes room for a waiting one first, from how long such jobs took so far.

import type { Capacity, Claim } from "../../model/machine.js";
import type { NextEnd } from "../../model/why.js";
import { verdictOn, type WaitingOn } from "./verdict.js";

/** Fewer ended jobs say too little. */
const FEWEST_ENDED = 3;

/** The middle one of the durations; null: too few are known. */
export function usualDurationMs(durations: readonly number[]): number | null {
  if (durations.length < FEWEST_ENDED) return null;
  const sorted = durations.toSorted((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)] ?? null;
}

/** `leftMs`: how long the jobs of the batch still run, by label, as far as known. Null: none of them alone makes room. */
export function nextEnd(waiting: readonly WaitingOn[], leftMs: ReadonlyMap<string, number>): NextEnd | null {
  const ends = waiting.flatMap((each) => endsOn(each, leftMs));
  return ends.sort((one, other) => one.inMs - other.inMs)[0] ?? null;
}

function endsOn(waiting: WaitingOn, leftMs: ReadonlyMap<string, number>): NextEnd[] {
  const { spec, capacity, batch } = waiting;
  return capacity.claims.flatMap((claim) => {
    const inMs = claim.batch === batch && claim.owner === "" ? leftMs.get(claim.job) : undefined;
    if (inMs === undefined) return [];
    const then = verdictOn({ ...waiting, capacity: without(capacity, claim) });
    if (then.kind !== "starts") return [];
    const cards = capacity.gpus.filter(({ uuid }) => claim.cards.some((card) => card.uuid === uuid));
    return [{ machine: spec.name, job: claim.job, cards: cards.map(({ index }) => index), inMs }];
  });
}

/** What its job uses is free again. */
function without(capacity: Capacity, claim: Claim): Capacity {
  const { memory, gpus, claims } = capacity;
  return {
    ...capacity,
    memory: memory && { ...memory, freeMb: memory.freeMb + claim.residentMb },
    gpus: gpus.map((gpu) => {
      const usedMb = claim.cards.find(({ uuid }) => uuid === gpu.uuid)?.usedMb ?? 0;
      return gpu.memoryFreeMb === null ? gpu : { ...gpu, memoryFreeMb: gpu.memoryFreeMb + usedMb };
    }),
    claims: claims.filter((each) => each !== claim),
  };
}
