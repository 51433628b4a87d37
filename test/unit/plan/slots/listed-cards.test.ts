import { describe, expect, test } from "vitest";
import { aClaim, aGpuNeed, cardsOfSlots, gpus, planFor } from "../a-machine.js";

const listing = (...listed: number[]) => ({ gpu: { ...aGpuNeed({}), listed } });

describe("cards that the user lists", () => {
  test("each has a slot, in that order, even if little is free", () => {
    const busy = gpus({ memoryFreeMb: 0, utilization: 1 }, {}, {});
    const plan = planFor({ gpus: busy, cpus: { total: 1, free: 0 } }, listing(2, 0));
    expect(cardsOfSlots(plan)).toEqual([[2], [0]]);
    expect(plan.shortages).toEqual([{ kind: "all-listed", count: 2 }]);
  });

  test("a card that is listed twice has two slots", () => {
    expect(cardsOfSlots(planFor({ gpus: gpus({}, {}) }, listing(0, 0, 1)))).toEqual([[0], [0], [1]]);
  });

  test("several per job, one after the other", () => {
    const requirement = { gpu: { ...aGpuNeed({ count: 2 }), listed: [3, 1, 0, 2] } };
    expect(cardsOfSlots(planFor({ gpus: gpus({}, {}, {}, {}) }, requirement))).toEqual([
      [3, 1],
      [0, 2],
    ]);
  });

  test("if no card is found, the user's list is trusted", () => {
    expect(cardsOfSlots(planFor({ gpus: [] }, listing(0, 5)))).toEqual([[0], [5]]);
  });

  test("if cards are found, a missing one is a mistake", () => {
    const plan = planFor({ gpus: gpus({}, {}) }, listing(0, 7));
    expect(plan).toEqual({ slots: [], shortages: [{ kind: "no-such-gpu", absent: [7], there: [0, 1] }] });
  });

  test("a broken card, or one that the machine file excludes, is refused", () => {
    const broken = planFor({ gpus: gpus({ unusable: "needs a reset" }) }, listing(0));
    expect(broken.shortages).toMatchObject([
      { kind: "gpus", refused: [{ why: { kind: "unusable", reason: "needs a reset" } }] },
    ]);
    const kept = planFor({ gpus: gpus({}) }, listing(0), { excludeGpus: [0] });
    expect(kept.shortages).toMatchObject([{ kind: "gpus", refused: [{ why: { kind: "not-allowed" } }] }]);
  });

  test("slices of a card are used in turn", () => {
    const slices = gpus({ isMig: true, uuid: "MIG-a" }, { isMig: true, uuid: "MIG-b", index: 0 });
    const plan = planFor({ gpus: slices }, listing(0, 0, 0));
    expect(plan.slots.map(({ gpus: [gpu] }) => gpu?.uuid)).toEqual(["MIG-a", "MIG-b", "MIG-a"]);
  });

  test("max_jobs and reserved machines still count", () => {
    expect(planFor({ gpus: gpus({}, {}) }, listing(0, 1), { maxJobs: 1 }).slots).toHaveLength(1);
    const reserved = planFor({ gpus: gpus({}), claims: [aClaim({ reservesMachine: true })] }, listing(0));
    expect(reserved.slots).toEqual([]);
  });
});
