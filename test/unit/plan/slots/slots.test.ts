import { describe, expect, test } from "vitest";
import type { Claim, Gpu } from "../../../../src/model/machine.js";
import { planSlots } from "../../../../src/plan/slots/slots.js";
import {
  aCapacity,
  aCardClaim,
  aClaim,
  aGpuNeed,
  aHolder,
  aNeed,
  aSpec,
  cardsOfSlots,
  gpus,
  planFor,
} from "../a-machine.js";

const USED = { memoryFreeMb: 20_000 };
const UNIFIED = { sharesHostMemory: true, memoryTotalMb: null, memoryFreeMb: null };

describe("memory and cores", () => {
  test("slots are added while their memory fits", () => {
    const plan = planFor({ memory: { totalMb: 32_000, freeMb: 21_000 } }, { memoryMb: 7000 });
    expect(plan.slots.map(({ index }) => index)).toEqual([0, 1, 2]);
    expect(plan.shortages).toEqual([{ kind: "memory", neededMb: 7000, freeMb: 0 }]);
  });

  test("two more cores than are free may be used", () => {
    const plan = planFor({ cpus: { total: 8, free: 4.5 } }, { memoryMb: 1, cpus: 1 });
    expect(plan.slots).toHaveLength(6);
    expect(plan.shortages).toEqual([{ kind: "cpus", needed: 1, free: -1.5 }]);
  });

  test("unknown values are neither zero nor plenty: no slots, and both are reported", () => {
    const plan = planFor({ memory: null, cpus: null }, {});
    expect(plan).toEqual({ slots: [], shortages: [{ kind: "memory-unknown" }, { kind: "cpus-unknown" }] });
  });

  test("the part that is kept for people is not used", () => {
    const keepFree = { memoryMb: 8000, cpus: 3, gpus: 0 };
    const plan = planFor(
      { memory: { totalMb: null, freeMb: 22_000 }, cpus: { total: 4, free: 4 } },
      {},
      { keepFree },
    );
    expect(plan.slots).toHaveLength(2);
    const few = planFor({ cpus: { total: 4, free: 4 } }, { cpus: 1, memoryMb: 1 }, { keepFree });
    expect(few.slots).toHaveLength(3);
  });

  test("a job that needs nothing does not get slots without limit", () => {
    const plan = planFor({}, { memoryMb: 0, cpus: 0 });
    expect(plan.shortages).toEqual([{ kind: "too-many", limit: plan.slots.length }]);
  });

  test("max_jobs also counts the slots of other batches", () => {
    expect(planFor({}, {}, { maxJobs: 3 }).slots).toHaveLength(3);
    const plan = planFor({ claims: [aClaim(), aClaim()] }, {}, { maxJobs: 3 });
    expect(plan.slots).toHaveLength(1);
    expect(plan.shortages).toEqual([{ kind: "max-jobs", maxJobs: 3, claimed: 2 }]);
  });

  test("all limits that are reached are named, not only the first", () => {
    const plan = planFor({ memory: { totalMb: 9, freeMb: 9 }, cpus: { total: 1, free: 0 } }, { cpus: 4 });
    expect(plan.shortages.map(({ kind }) => kind)).toEqual(["memory", "cpus"]);
  });
});

describe("claims of other batches", () => {
  test("memory a claimed job already holds is not counted twice", () => {
    const memory = { totalMb: 32_000, freeMb: 20_000 };
    expect(
      planFor({ memory, claims: [aClaim({ memoryMb: 7000, residentMb: 6000 })] }, {}).slots,
    ).toHaveLength(2);
    expect(planFor({ memory, claims: [aClaim({ memoryMb: 7000 })] }, {}).slots).toHaveLength(1);
    expect(
      planFor({ memory, claims: [aClaim({ memoryMb: 7000, residentMb: 99_999 })] }, {}).slots,
    ).toHaveLength(2);
  });

  test.each([
    ["a claim without a job counts in addition to the load", { total: 16, free: 8 }, 0, 4 + 2],
    ["a running job's cores are part of the load", { total: 16, free: 8 }, 100, 8 + 2],
    ["an idle running job keeps its cores", { total: 16, free: 16 }, 100, 12 + 2],
  ])("%s", (_, cpus, residentMb, slots) => {
    const claims = [aClaim({ cpus: 4, residentMb })];
    expect(planFor({ cpus, claims }, { memoryMb: 1 }).slots).toHaveLength(slots);
  });

  test("a machine that another batch has reserved has no slots", () => {
    const plan = planFor({ claims: [aClaim(), aClaim({ batch: "big", reservesMachine: true })] }, {});
    expect(plan).toEqual({ slots: [], shortages: [{ kind: "machine-claimed", owner: "", batch: "big" }] });
  });

  test("a reserved card is not available, whatever its load", () => {
    const claims = [aClaim({ cards: [aCardClaim({ uuid: "GPU-0", amount: 1 })] })];
    const plan = planFor(
      { gpus: gpus({}, {}), claims },
      { gpu: aGpuNeed({ isReserved: false, utilization: 1.2 }) },
    );
    expect(cardsOfSlots(plan)).toEqual([[1]]);
  });

  test("a shared card has what other batches leave of it", () => {
    const claims = [aClaim({ cards: [aCardClaim({ uuid: "GPU-0", memoryMb: 20_000, share: 0.5 })] })];
    const shared = { isReserved: false, utilization: 0.3, memoryMb: 2000 };
    expect(planFor({ gpus: gpus({}), claims }, { gpu: aGpuNeed(shared) }).slots).toHaveLength(2);
    expect(
      planFor({ gpus: gpus({}), claims }, { gpu: aGpuNeed({ ...shared, memoryMb: 4001 }) }).slots,
    ).toEqual([]);
  });

  test("a card that other batches share cannot be reserved", () => {
    const claims = [aClaim({ batch: "b", cards: [aCardClaim({ uuid: "GPU-0", memoryMb: 1 })] })];
    const plan = planFor({ gpus: gpus({}), claims }, { gpu: aGpuNeed() });
    expect(plan.shortages).toMatchObject([{ refused: [{ why: { kind: "taken", batch: "b" } }] }]);
  });
});

describe("cards", () => {
  test("a reserved card has one slot", () => {
    const plan = planFor({ gpus: gpus({}, {}) }, { gpu: aGpuNeed() });
    expect(cardsOfSlots(plan)).toEqual([[0], [1]]);
    expect(plan.shortages).toMatchObject([{ kind: "gpus", needed: 1, available: 0 }]);
  });

  test("a slot's cards do not carry the processes that were on them", () => {
    const plan = planFor({ gpus: gpus({ utilization: 0.1 }) }, { gpu: aGpuNeed() });
    expect(plan.slots[0]?.gpus[0]).not.toHaveProperty("holders");
  });

  test("the next slot goes to the least utilised card, the first of equals", () => {
    const cards = gpus({ utilization: 0.3 }, { utilization: 0.1 }, { utilization: 0.1 });
    const plan = planFor({ gpus: cards }, { gpu: aGpuNeed({ isReserved: false, utilization: 0.5 }) });
    expect(cardsOfSlots(plan)).toEqual([[1], [2], [0], [1], [2]]);
  });

  test.each([
    [0.4, 3],
    [0.6, 2],
    [0.75, 1],
    [1.2, 1],
  ])("jobs that use %f of a shared card: %i of them, since 1.2 is the limit", (utilization, slots) => {
    const plan = planFor({ gpus: gpus({}) }, { gpu: aGpuNeed({ isReserved: false, utilization }) });
    expect(plan.slots).toHaveLength(slots);
  });

  test("other people's work on a card is fine if enough room is left", () => {
    const cards = gpus(
      { utilization: 0.45, memoryFreeMb: 1000 },
      { utilization: 0.46 },
      { memoryFreeMb: 999 },
    );
    const plan = planFor({ gpus: cards }, { gpu: aGpuNeed() });
    expect(cardsOfSlots(plan)).toEqual([[0]]);
    expect(plan.shortages).toMatchObject([
      {
        refused: [{ why: { kind: "taken" } }, { why: { kind: "utilization" } }, { why: { kind: "memory" } }],
      },
    ]);
  });

  test.each<[string, { [Fact in keyof Gpu]?: Gpu[Fact] | undefined }, number]>([
    ["no process is there, and hardly any memory is used", { holders: [] }, 1],
    ["the processes are not known, and hardly any memory is used", { holders: undefined }, 1],
    ["another person's process is there", { holders: [aHolder()] }, 0],
    ["no process is seen, as in a container, but memory is used", { holders: [], memoryFreeMb: 20_000 }, 0],
    ["it has no memory of its own, and no process is there", { ...UNIFIED, holders: [] }, 1],
    ["it has no memory of its own, and its processes are not known", { ...UNIFIED, holders: undefined }, 0],
  ])("a card that reports full use: %s", (_, facts, slots) => {
    const cards = gpus({ utilization: 1, ...facts } as Partial<Gpu>);
    expect(planFor({ gpus: cards }, { gpu: aGpuNeed() }).slots).toHaveLength(slots);
  });

  test.each<[string, Partial<Gpu>, number]>([
    ["nothing is on it", { holders: [] }, 1],
    ["another person's process", { holders: [aHolder()] }, 0],
    ["an own process that is no job", { holders: [aHolder({ isOwn: true })] }, 1],
    [
      "memory that its own process explains",
      { holders: [aHolder({ isOwn: true, memoryMb: 4300 })], ...USED },
      1,
    ],
    ["memory that no process explains", { holders: [], ...USED }, 0],
    ["memory, and processes are not known", USED, 0],
  ])("a card for polite jobs: %s", (_, facts, slots) => {
    const asked = { spec: aSpec(), capacity: aCapacity({ gpus: gpus(facts) }), placing: { isPolite: true } };
    const gpu = aGpuNeed({ isReserved: false, utilization: 1 });
    expect(planSlots({ ...asked, requirement: aNeed({ gpu }) }).slots).toHaveLength(slots);
  });

  test("what a claim's own job computes is not counted beside its claim", () => {
    const claims = [aClaim({ cards: [aCardClaim({ uuid: "GPU-0", memoryMb: 4000, share: 0.5 })] })];
    const cards = gpus({ utilization: 0.9, memoryFreeMb: 20_000, holders: [aHolder({ isClaimed: true })] });
    const need = aGpuNeed({ isReserved: false, utilization: 0.5 });
    expect(planFor({ gpus: cards, claims }, { gpu: need }).slots).toHaveLength(1);
    const shared = gpus({ utilization: 0.9, memoryFreeMb: 20_000, holders: [aHolder()] });
    expect(planFor({ gpus: shared, claims }, { gpu: need }).slots).toHaveLength(0);
  });

  test("an idle exclusive card that reports 100 % takes a job; one whose memory is used does not", () => {
    const exclusive = { isExclusive: true, utilization: 1, holders: [] };
    const cards = gpus(exclusive, { ...exclusive, memoryFreeMb: 20_000 });
    expect(cardsOfSlots(planFor({ gpus: cards }, { gpu: aGpuNeed() }))).toEqual([[0]]);
  });

  test("a card of unknown utilisation comes last, one of unknown memory not at all", () => {
    const cards = gpus({ utilization: null }, { memoryFreeMb: null }, { utilization: 0.4 });
    const plan = planFor({ gpus: cards }, { gpu: aGpuNeed() });
    expect(cardsOfSlots(plan)).toEqual([[2], [0]]);
    expect(plan.shortages).toMatchObject([
      { refused: [{}, { gpu: { index: 1 }, why: { kind: "memory-unknown" } }, {}] },
    ]);
  });

  test("an exclusive card takes one job, and only if no process is on it", () => {
    const cards = gpus({}, { utilization: 0.01 }, { utilization: null }, {}).map((gpu) => ({
      ...gpu,
      isExclusive: true,
    }));
    const claims = [aClaim({ cards: [aCardClaim({ uuid: "GPU-3" })] })];
    const plan = planFor({ gpus: cards, claims }, { gpu: aGpuNeed({ isReserved: false, utilization: 0.1 }) });
    expect(cardsOfSlots(plan)).toEqual([[0]]);
  });

  test("an unusable card is left out, with its reason", () => {
    const plan = planFor({ gpus: gpus({ unusable: "needs a reset" }) }, { gpu: aGpuNeed() });
    expect(plan.shortages).toMatchObject([
      { refused: [{ why: { kind: "unusable", reason: "needs a reset" } }] },
    ]);
  });

  test("gpus allows, exclude_gpus forbids, keep_free leaves the best cards to people", () => {
    const cards = gpus({ utilization: 0.2 }, {}, {}, {});
    expect(cardsOfSlots(planFor({ gpus: cards }, { gpu: aGpuNeed() }, { gpus: [0, 2, 9] }))).toEqual([
      [2],
      [0],
    ]);
    expect(cardsOfSlots(planFor({ gpus: cards }, { gpu: aGpuNeed() }, { excludeGpus: [0, 1] }))).toEqual([
      [2],
      [3],
    ]);
    const keepFree = { memoryMb: 0, cpus: 0, gpus: 2 };
    expect(cardsOfSlots(planFor({ gpus: cards }, { gpu: aGpuNeed() }, { keepFree }))).toEqual([[1], [0]]);
  });

  test("a job on several cards gets different ones of one vendor", () => {
    const cards = gpus({}, { vendor: "amd", uuid: "a" }, {}, { vendor: "amd", uuid: "b" }, {});
    expect(cardsOfSlots(planFor({ gpus: cards }, { gpu: aGpuNeed({ count: 2 }) }))).toEqual([
      [0, 2],
      [1, 3],
    ]);
    expect(planFor({ gpus: cards }, { gpu: aGpuNeed({ count: 4 }) }).shortages).toMatchObject([
      { kind: "gpus", needed: 4, available: 5 },
    ]);
  });

  test("a MIG slice serves only a job on one card", () => {
    const slices = gpus({ index: 0, uuid: "MIG-1", isMig: true }, { index: 0, uuid: "MIG-2", isMig: true });
    expect(planFor({ gpus: slices }, { gpu: aGpuNeed() }).slots).toHaveLength(2);
    expect(planFor({ gpus: slices }, { gpu: aGpuNeed({ count: 2 }) }).slots).toEqual([]);
  });

  test("MIG slices that share the memory of one GPU instance have it once", () => {
    const slice = { index: 0, isMig: true, utilization: null, memoryTotalMb: 20_000, memoryFreeMb: 19_900 };
    const cards = gpus(
      { ...slice, uuid: "MIG-1", memoryGroup: "GPU-0/1" },
      { ...slice, uuid: "MIG-2", memoryGroup: "GPU-0/1" },
      { ...slice, uuid: "MIG-3", memoryGroup: "GPU-0/2" },
    );
    const slotsFor = (memoryMb: number, claims: Claim[] = []) =>
      planFor({ gpus: cards, claims }, { memoryMb: 1, gpu: aGpuNeed({ memoryMb }) }).slots.map(
        (slot) => slot.gpus[0]?.uuid,
      );
    expect(slotsFor(9950)).toEqual(["MIG-1", "MIG-2", "MIG-3"]);
    expect(slotsFor(10_000)).toEqual(["MIG-1", "MIG-3"]);
    const claims = [aClaim({ cards: [aCardClaim({ uuid: "MIG-2", memoryMb: 12_000, amount: 1 })] })];
    expect(slotsFor(7900, claims)).toEqual(["MIG-1", "MIG-3"]);
    expect(slotsFor(8000, claims)).toEqual(["MIG-3"]);
  });

  test("a card without memory of its own takes it from the host, also for what others claim", () => {
    const cards = gpus({ sharesHostMemory: true, memoryFreeMb: null, memoryTotalMb: null });
    const memory = { totalMb: 20_000, freeMb: 20_000 };
    const need = { memoryMb: 4000, gpu: aGpuNeed({ memoryMb: 4000, isReserved: false, utilization: 0.1 }) };
    expect(planFor({ gpus: cards, memory }, need).slots).toHaveLength(2);
    const claims = [aClaim({ cards: [aCardClaim({ uuid: "GPU-0", memoryMb: 5000 })] })];
    expect(planFor({ gpus: cards, memory, claims }, need).slots).toHaveLength(1);
  });

  test("cards do not matter to jobs that need none", () => {
    const plan = planFor({ gpus: gpus({}), cpus: { total: 1, free: 0 } }, { gpu: null });
    expect(cardsOfSlots(plan)).toEqual([[], []]);
  });
});

describe("--reserve", () => {
  const need = { gpu: aGpuNeed(), reservesMachine: true };

  test("one slot with all usable cards", () => {
    const plan = planFor({ gpus: gpus({}, { unusable: "is lost" }, {}) }, need);
    expect(cardsOfSlots(plan)).toEqual([[0, 2]]);
    expect(plan.shortages).toContainEqual({ kind: "machine-reserved" });
  });

  test("not beside another batch", () => {
    const plan = planFor({ gpus: gpus({}), claims: [aClaim({ batch: "b" })] }, need);
    expect(plan).toEqual({ slots: [], shortages: [{ kind: "machine-in-use", owner: "", batch: "b" }] });
  });

  test("not without the cards a job needs", () => {
    expect(planFor({ gpus: gpus({}) }, { ...need, gpu: aGpuNeed({ count: 2 }) }).slots).toEqual([]);
  });
});
