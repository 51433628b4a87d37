import { expect, test } from "vitest";
import { footprintOf } from "../../../../src/remote/spool/footprint-facts.js";

test.each([
  [
    "all of it",
    { mem: "1830", gpu: "700", cpu: "60210" },
    { memoryMb: 1830, gpuMemoryMb: 700, cpuMs: 60_210 },
  ],
  ["a part of it", { mem: "1830" }, { memoryMb: 1830 }],
  ["nothing", {}, undefined],
  ["facts of another kind", { oom: "likely" }, undefined],
  ["too many digits", { mem: "1".repeat(10), gpu: "2", cpu: "3".repeat(14) }, { gpuMemoryMb: 2 }],
  ["no numbers", { mem: "-1", gpu: "1e3", cpu: "NaN" }, undefined],
])("%s", (_, facts, footprint) => {
  expect(footprintOf(new Map(Object.entries<string>(facts)))).toEqual(footprint);
});
