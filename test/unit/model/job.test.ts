import { describe, expect, test } from "vitest";
import { kindOf, type Requirement } from "../../../src/model/job.js";
import { aGpuNeed, aNeed } from "../plan/a-machine.js";

const NEED = aNeed({ gpu: aGpuNeed() });

function withGpu(facts: Parameters<typeof aGpuNeed>[0]): Requirement {
  return aNeed({ gpu: aGpuNeed(facts) });
}

describe("the kind of a job", () => {
  test("is the same word as before where nothing new is needed", () => {
    expect(kindOf(undefined)).toBe("-");
    expect(kindOf(NEED)).toBe("1_7000_1_1000_0.75_alone");
    expect(kindOf(aNeed({ cpus: 0.5, reservesMachine: true }))).toBe("0.5_7000_machine");
    expect(kindOf(withGpu({ isReserved: false, listed: [0, 0, 1] }))).toBe("1_7000_1_1000_0.75_shared_0.0.1");
  });

  test("differs where the model, the whole memory, or a resource differs", () => {
    const needs = [
      NEED,
      withGpu({ model: "A100" }),
      withGpu({ model: "A100|H100" }),
      withGpu({ memoryTotalMb: 1000 }),
      withGpu({ count: 0.5 }),
      { ...NEED, resources: { licence: [1] } },
      { ...NEED, resources: { licence: [1, 0.5] } },
      { ...NEED, resources: { licence: [1], nvme: [0.5] } },
      { ...NEED, resources: { total: [1000] } },
    ];
    expect(new Set(needs.map(kindOf)).size).toBe(needs.length);
  });

  test("does not depend on the order of resources", () => {
    const [a, b] = [
      { a: [1], b: [2] },
      { b: [2], a: [1] },
    ];
    expect(kindOf({ ...NEED, resources: a })).toBe(kindOf({ ...NEED, resources: b }));
  });

  test("can be the name of a file, whatever people type", () => {
    const odd = withGpu({ model: "RTX 3090/../é|'$(id)'", listed: ["MIG-GPU-1/2/3"] });
    const long = withGpu({ listed: Array.from({ length: 40 }, (_, index) => `GPU-${index}-abcdef`) });
    const longer = withGpu({ listed: Array.from({ length: 41 }, (_, index) => `GPU-${index}-abcdef`) });
    for (const need of [odd, long, longer]) expect(kindOf(need)).toMatch(/^[\w.@%+-]{1,200}$/);
    expect(kindOf(long)).not.toBe(kindOf(longer));
  });
});
