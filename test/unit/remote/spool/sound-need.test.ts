import { describe, expect, test } from "vitest";
import { soundPlacing, soundRequirement } from "../../../../src/remote/spool/sound-need.js";
import { aGpuNeed, aNeed } from "../../plan/a-machine.js";

describe("a requirement that a machine reports", () => {
  test.each([
    aNeed(),
    aNeed({ gpu: aGpuNeed({ count: 2.5, model: "A100|H100", memoryTotalMb: 40_000 }) }),
    aNeed({ resources: { licence: [1], nvme: [1, 0.5], "gpu@train": [0.5] } }),
  ])("is taken as it is if it is sound: %j", (need) => {
    expect(soundRequirement(JSON.parse(JSON.stringify(need)))).toEqual(need);
  });

  test("loses what it should not have", () => {
    expect(soundRequirement({ ...aNeed(), resources: {}, extra: 1 })).toEqual(aNeed());
  });

  test.each([
    { resources: { "a b": [1] } },
    { resources: { "gpu@": [1] } },
    { resources: { "gpu@a@b": [1] } },
    { resources: { "gpu@a/b": [1] } },
    { resources: { constructor: [1] } },
    { resources: { a: [] } },
    { resources: { a: 1 } },
    { resources: { a: [-1] } },
    { resources: { a: ["1"] } },
    { resources: { a: [1e300] } },
    { resources: { a: Array(65).fill(1) } },
    { resources: Object.fromEntries(Array.from({ length: 65 }, (_, at) => [`a${at}`, [1]])) },
    { resources: [] },
    { resources: "a" },
    { gpu: { ...aGpuNeed(), model: 1 } },
    { gpu: { ...aGpuNeed(), model: "a\nb" } },
    { gpu: { ...aGpuNeed(), model: "a".repeat(101) } },
    { gpu: { ...aGpuNeed(), memoryTotalMb: "1" } },
    { gpu: { ...aGpuNeed(), count: -0.5 } },
  ])("is refused: %j", (facts) => {
    const text = JSON.stringify({ ...aNeed(), ...facts });
    expect(soundRequirement(JSON.parse(text))).toBeUndefined();
  });
});

test("how cards are chosen is taken only where it is said plainly", () => {
  expect(soundPlacing({ packs: true, isPolite: true, more: 1 })).toEqual({ packs: true, isPolite: true });
  expect(soundPlacing({ packs: "yes" })).toBeUndefined();
  expect(soundPlacing(undefined)).toBeUndefined();
});
