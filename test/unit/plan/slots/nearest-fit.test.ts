import { expect, test } from "vitest";
import type { Requirement } from "../../../../src/model/job.js";
import type { Capacity, MachineSpec } from "../../../../src/model/machine.js";
import { nearestFit } from "../../../../src/plan/slots/nearest-fit.js";
import { slotsWhenEmpty } from "../../../../src/plan/slots/slots.js";
import { aCapacity, aCardClaim, aClaim, aGpuNeed, aHolder, aNeed, aSpec, gpus } from "../a-machine.js";

const CARDS = { gpus: gpus({}, { memoryTotalMb: 12_288 }) };

function asked(
  requirement: Partial<Requirement>,
  capacity: Partial<Capacity> = CARDS,
  spec: Partial<MachineSpec> = {},
) {
  return { spec: aSpec(spec), capacity: aCapacity(capacity), requirement: aNeed(requirement) };
}

test("an empty machine has the slots that nothing takes from it", () => {
  const busy = asked(
    { memoryMb: 8000, gpu: aGpuNeed({ memoryMb: 24_000 }) },
    {
      memory: { totalMb: 16_000, freeMb: 100 },
      cpus: { total: 8, free: 0 },
      gpus: gpus({ memoryFreeMb: 0, utilization: 1, isExclusive: true, holders: [aHolder()] }, {}),
      claims: [aClaim({ reservesMachine: true, cards: [aCardClaim({ amount: 1 })] })],
    },
  );
  expect(slotsWhenEmpty(busy).slots.map((slot) => slot.gpus[0]?.index)).toEqual([0, 1]);
});

test("an empty machine still keeps what is for people, and leaves out cards that do not work", () => {
  const kept = { keepFree: { memoryMb: 0, cpus: 0, gpus: 1 } };
  expect(slotsWhenEmpty(asked({ gpu: aGpuNeed() }, CARDS, kept)).slots).toHaveLength(1);
  expect(slotsWhenEmpty(asked({ gpu: aGpuNeed() }, { gpus: gpus({ unusable: "is lost" }) })).slots).toEqual(
    [],
  );
});

test.each<[string, Partial<Requirement>, string[]]>([
  ["more memory on a card", { gpu: aGpuNeed({ memoryMb: 40_000 }) }, ["most memory of a card here is 24 GB"]],
  ["more cards", { gpu: aGpuNeed({ count: 4 }) }, ["2 cards"]],
  [
    "more memory on more cards than one",
    { gpu: aGpuNeed({ count: 2, memoryMb: 20_000 }) },
    ["cards with 12 GB", "1 card"],
  ],
  [
    "more large cards",
    { gpu: aGpuNeed({ count: 2, memoryTotalMb: 20_000 }) },
    ["1 card", "cards with 12 GB"],
  ],
  ["another model", { gpu: aGpuNeed({ model: "A100" }) }, ["cards here: NVIDIA GeForce RTX 3090"]],
  ["larger cards", { gpu: aGpuNeed({ memoryTotalMb: 80_000 }) }, ["the largest card here has 24 GB"]],
  ["more memory", { memoryMb: 300_000 }, ["at most 250 GB of memory"]],
  ["more cores", { cpus: 100 }, ["at most 66 cores"]],
  ["more of a resource", { resources: { licence: [3] } }, ["licence: 2"]],
  ["more of one instance", { resources: { disk: [9] } }, ["disk: 4"]],
  ["more instances", { resources: { licence: [1, 1, 1] } }, ["licence: 1 and 1"]],
  ["a resource that is not there", { resources: { tape: [1] } }, ["resources here: licence, disk"]],
  ["two things at once", { memoryMb: 300_000, cpus: 100 }, []],
])("a job that needs %s than there is: the nearest that would fit", (_, requirement, nearest) => {
  const resources = { licence: { a: 1, b: 1 }, disk: { x: 4, y: 2 } };
  const question = asked(requirement, CARDS, { resources });
  expect(slotsWhenEmpty(question).slots).toEqual([]);
  expect(nearestFit(question)).toEqual(nearest);
});
