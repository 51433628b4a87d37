import { describe, expect, test } from "vitest";
import type { Outcome, Requirement } from "../../../src/model/job.js";
import type { Capacity, MachineSpec } from "../../../src/model/machine.js";
import { growNeed, type Offer, type Outgrown } from "../../../src/plan/grow-need.js";
import { aCapacity, aGpu, aGpuNeed, aNeed, aSpec } from "./a-machine.js";

const KILLED: Outcome = { kind: "killed", signal: "SIGKILL", cause: "out-of-memory" };
const CARD: Outcome = { kind: "exited", code: 1, cause: "gpu-out-of-memory" };

const outgrown = (requirement: Requirement, facts: Partial<Outgrown> = {}): Outgrown => ({
  requirement,
  outcome: KILLED,
  footprint: undefined,
  machine: "a",
  ...facts,
});

function offer(name: string, capacity: Partial<Capacity> = {}, spec: Partial<MachineSpec> = {}): Offer {
  return { spec: aSpec({ name, ...spec }), capacity: aCapacity(capacity) };
}

const memory = (totalMb: number, freeMb = totalMb) => ({ memory: { totalMb, freeMb } });

describe("host memory", () => {
  const grow = (memoryMb: number, offers: Offer[], facts: Partial<Outgrown> = {}) =>
    growNeed(outgrown(aNeed({ memoryMb }), facts), offers);

  test("twice what was declared", () => {
    expect(grow(2000, [offer("a")])).toEqual({ requirement: aNeed({ memoryMb: 4000 }), prefers: "a" });
  });

  test("more than the peak, if that is more", () => {
    expect(grow(2000, [offer("a")], { footprint: { memoryMb: 6001 } })).toMatchObject({
      requirement: { memoryMb: 9002 },
    });
  });

  test("no declared memory: by the peak, or half of the machine", () => {
    expect(grow(0, [offer("a", memory(64_000))], { footprint: { memoryMb: 3000 } })).toMatchObject({
      requirement: { memoryMb: 4500 },
    });
    expect(grow(0, [offer("a", memory(64_000))])).toMatchObject({ requirement: { memoryMb: 32_000 } });
  });

  test("as much as the largest machine can give, with a part left for itself", () => {
    const offers = [offer("a", memory(8000)), offer("b", memory(10_000))];
    expect(grow(6000, offers)).toEqual({ requirement: aNeed({ memoryMb: 9000 }), prefers: "b" });
    const kept = { keepFree: { memoryMb: 2000, cpus: 0, gpus: 0 } };
    expect(grow(6000, [offer("a", memory(10_000), kept)])).toMatchObject({ requirement: { memoryMb: 7200 } });
  });

  test("what was free when the machines were measured, if that is clearly more", () => {
    expect(grow(6000, [offer("a", memory(64_000, 10_000))])).toMatchObject({
      requirement: { memoryMb: 9000 },
    });
    expect(grow(6000, [offer("a", memory(64_000, 7000))])).toMatchObject({
      requirement: { memoryMb: 12_000 },
    });
  });

  test("no machine can give more: not once more", () => {
    expect(grow(7500, [offer("a", memory(8000))])).toEqual({
      requirement: null,
      reason: "no machine can give it more memory",
    });
    expect(grow(100, [])).toMatchObject({ requirement: null });
  });

  test("prefers the machine where most is free, and of equal ones another than before", () => {
    const offers = [offer("a", memory(64_000, 9000)), offer("b", memory(32_000, 30_000))];
    expect(grow(1000, offers)).toMatchObject({ prefers: "b" });
    expect(grow(1000, [offer("a"), offer("b")])).toMatchObject({ prefers: "b" });
  });

  test("other needs stay, and limit the machines", () => {
    const need = aNeed({ memoryMb: 1000, resources: { licence: [1] } });
    const withLicence = offer("b", memory(3000), { resources: { licence: { x: 1 } } });
    const grown = growNeed(outgrown(need), [offer("a"), withLicence]);
    expect(grown).toEqual({ requirement: { ...need, memoryMb: 2000 }, prefers: "b" });
  });
});

describe("GPU memory", () => {
  const grow = (gpu: Parameters<typeof aGpuNeed>[0], offers: Offer[], facts: Partial<Outgrown> = {}) =>
    growNeed(outgrown(aNeed({ gpu: aGpuNeed(gpu) }), { outcome: CARD, ...facts }), offers);
  const withCards = (name: string, ...totals: number[]) =>
    offer(name, {
      gpus: totals.map((mb, index) => aGpu({ index, memoryTotalMb: mb, memoryFreeMb: mb })),
    });

  test("a job that shared its card gets one alone, with twice the memory", () => {
    expect(grow({ isReserved: false }, [withCards("a", 24_000)])).toMatchObject({
      requirement: { gpu: { memoryMb: 2000, isReserved: true, count: 1 } },
    });
    expect(grow({ isReserved: false, count: 0.5 }, [withCards("a", 24_000)])).toMatchObject({
      requirement: { gpu: { isReserved: true, count: 1 } },
    });
  });

  test("a job that had its card alone gets a free one", () => {
    expect(grow({}, [withCards("a", 24_000)])).toMatchObject({
      requirement: { gpu: { memoryMb: 21_600, isReserved: true } },
    });
  });

  test("a larger card, if the peak asks for it", () => {
    const offers = [withCards("a", 24_000), withCards("b", 48_000)];
    const footprint = { gpuMemoryMb: 23_000 };
    expect(grow({ memoryMb: 20_000 }, offers, { footprint })).toMatchObject({
      requirement: { gpu: { memoryMb: 40_000 } },
      prefers: "b",
    });
    expect(grow({ memoryMb: 20_000 }, offers.slice(0, 1), { footprint })).toMatchObject({
      requirement: { gpu: { memoryMb: 21_600 } },
      prefers: "a",
    });
  });

  test("a whole card was not enough, and there is no larger one", () => {
    expect(grow({ memoryMb: 22_000 }, [withCards("a", 24_000)])).toEqual({
      requirement: null,
      reason: "no machine can give it more GPU memory",
    });
  });

  test("a job that asked for no GPU", () => {
    expect(growNeed(outgrown(aNeed(), { outcome: CARD }), [withCards("a", 24_000)])).toEqual({
      requirement: null,
      reason: "it asked for no GPU",
    });
  });
});
