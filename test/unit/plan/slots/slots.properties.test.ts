import fc from "fast-check";
import { expect, test } from "vitest";
import type { Requirement } from "../../../../src/model/job.js";
import type { Capacity, Claim, Gpu, MachineSpec } from "../../../../src/model/machine.js";
import { planSlots } from "../../../../src/plan/slots/slots.js";
import { aCapacity, aCardClaim, aClaim, aGpu, aSpec } from "../a-machine.js";

const hundredths = (max: number) => fc.integer({ min: 0, max: max * 100 }).map((number) => number / 100);
const megabytes = fc.integer({ min: 0, max: 64_000 });

const card = fc.record({
  memoryFreeMb: fc.option(megabytes, { freq: 5 }),
  utilization: fc.option(hundredths(1), { freq: 5 }),
  unusable: fc.option(fc.constant("is lost"), { freq: 5 }),
  isExclusive: fc.boolean(),
});

const claim = fc
  .record({
    memoryMb: megabytes,
    residentMb: megabytes,
    cpus: fc.integer({ min: 0, max: 8 }),
    cards: fc.subarray(["GPU-0", "GPU-1", "GPU-2"]),
    card: fc.record({ memoryMb: megabytes, share: hundredths(1.2), amount: fc.constantFrom(0, 1) }),
  })
  .map(({ cards, card, ...facts }): Claim => {
    return aClaim({ ...facts, cards: cards.map((uuid) => aCardClaim({ ...card, uuid })) });
  });

const capacity = fc
  .record({
    total: fc.integer({ min: 1, max: 64 }),
    busyShare: hundredths(1),
    freeMb: megabytes,
    cards: fc.array(card, { maxLength: 5 }),
    claims: fc.array(claim, { maxLength: 2 }),
  })
  .map(({ total, busyShare, freeMb, cards, claims }): Capacity => {
    return aCapacity({
      cpus: { total, free: total * (1 - busyShare) },
      memory: { totalMb: null, freeMb },
      gpus: cards.map((facts, index) => aGpu({ ...facts, index })),
      claims,
    });
  });

const gpuNeed = fc.record({
  count: fc.integer({ min: 1, max: 3 }),
  memoryMb: megabytes,
  utilization: hundredths(1.2),
  isReserved: fc.boolean(),
});

const requirement: fc.Arbitrary<Requirement> = fc.record({
  cpus: fc.integer({ min: 1, max: 8 }),
  memoryMb: megabytes,
  gpu: fc.option(gpuNeed, { freq: 4 }),
  reservesMachine: fc.constant(false),
});

const spec = fc
  .record({
    maxJobs: fc.option(fc.integer({ min: 1, max: 20 })),
    keepFree: fc.record({
      memoryMb: fc.integer({ min: 0, max: 8000 }),
      cpus: fc.integer({ min: 0, max: 4 }),
      gpus: fc.integer({ min: 0, max: 2 }),
    }),
    excludeGpus: fc.subarray([0, 1, 2]),
  })
  .map((facts): MachineSpec => aSpec(facts));

test("no limit is ever exceeded", () => {
  fc.assert(
    fc.property(spec, capacity, requirement, (machine, found, need) => {
      const { slots, shortages } = planSlots({ spec: machine, capacity: found, requirement: need });
      const count = slots.length;
      expect(shortages.length).toBeGreaterThan(0);
      if (count === 0) return;
      expect(count + found.claims.length).toBeLessThanOrEqual(machine.maxJobs ?? Infinity);
      const claimedMb = sum(found.claims.map((c) => Math.max(0, c.memoryMb - c.residentMb)));
      expect(count * need.memoryMb + claimedMb + machine.keepFree.memoryMb).toBeLessThanOrEqual(
        found.memory?.freeMb ?? 0,
      );
      expect(count * need.cpus + machine.keepFree.cpus).toBeLessThanOrEqual(
        (found.cpus?.free ?? 0) + 2 + 1e-6,
      );
      for (const gpu of found.gpus)
        checkCard(gpu, found.claims, need, slots.filter((slot) => slot.gpus.includes(gpu)).length);
      const touched = new Set(slots.flatMap((slot) => slot.gpus.map(({ index }) => index)));
      for (const index of machine.excludeGpus) expect(touched).not.toContain(index);
      for (const slot of slots) expect(new Set(slot.gpus).size).toBe(need.gpu?.count ?? 0);
    }),
    { numRuns: 2000 },
  );
});

function checkCard(gpu: Gpu, allClaims: readonly Claim[], need: Requirement, slots: number): void {
  if (slots === 0 || need.gpu === null) return;
  const claims = allClaims.flatMap(({ cards }) => cards).filter(({ uuid }) => uuid === gpu.uuid);
  expect(gpu.unusable).toBeNull();
  const usedMb = slots * need.gpu.memoryMb + sum(claims.map((c) => c.memoryMb));
  expect(usedMb).toBeLessThanOrEqual(gpu.memoryFreeMb ?? -1);
  const used = slots * need.gpu.utilization + sum(claims.map((c) => c.share)) + (gpu.utilization ?? 0);
  expect(used).toBeLessThanOrEqual(1.2 + 1e-6);
  expect(claims.some(({ amount }) => amount === 1)).toBe(false);
  if (need.gpu.isReserved || gpu.isExclusive) expect([slots, claims.length]).toEqual([1, 0]);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

// Without jobs on several shared cards: an optimal choice is a hard problem there, and the plan only promises to be
// safe.
const simpleNeed = requirement.filter(({ gpu }) => gpu === null || gpu.count === 1 || gpu.isReserved);

test("a machine with more room never has fewer slots", () => {
  const more = fc.record({
    memoryMb: megabytes,
    cpus: fc.integer({ min: 0, max: 8 }),
    gpuMb: megabytes,
    calm: hundredths(1),
  });
  fc.assert(
    fc.property(spec, capacity, simpleNeed, more, (machine, found, need, extra) => {
      const reserved = need.gpu?.isReserved ?? true;
      const plain = reserved ? machine : { ...machine, keepFree: { ...machine.keepFree, gpus: 0 } };
      const before = planSlots({ spec: plain, capacity: found, requirement: need });
      const after = planSlots({ spec: plain, capacity: enlarge(found, extra), requirement: need });
      expect(after.slots.length).toBeGreaterThanOrEqual(before.slots.length);
    }),
    { numRuns: 2000 },
  );
});

interface Extra {
  readonly memoryMb: number;
  readonly cpus: number;
  readonly gpuMb: number;
  readonly calm: number;
}

function enlarge(found: Capacity, { memoryMb, cpus, gpuMb, calm }: Extra): Capacity {
  return {
    ...found,
    memory: found.memory && { ...found.memory, freeMb: found.memory.freeMb + memoryMb },
    cpus: found.cpus && { total: found.cpus.total + cpus, free: found.cpus.free + cpus },
    gpus: found.gpus.map((gpu) => ({
      ...gpu,
      memoryFreeMb: gpu.memoryFreeMb === null ? null : gpu.memoryFreeMb + gpuMb,
      utilization: gpu.utilization === null ? null : gpu.utilization * calm,
    })),
  };
}
