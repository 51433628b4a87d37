import { describe, expect, test } from "vitest";
import { formatNeed } from "../../../../src/remote/spool/need-text.js";
import { formatRoom } from "../../../../src/remote/spool/room-text.js";
import { aCapacity, aGpuNeed, aNeed, aSpec, gpus } from "../../plan/a-machine.js";

const CARDS = aCapacity({
  gpus: gpus({}, { name: "NVIDIA A100-SXM4-80GB", memoryTotalMb: 81_920 }, { isMig: true, uuid: "MIG-7" }),
});

function cardsLine(facts: Parameters<typeof aGpuNeed>[0]): string | undefined {
  return formatNeed("k", aNeed({ gpu: aGpuNeed(facts) }), CARDS).split("\n")[1];
}

describe("a need as text", () => {
  test("without cards is one line of whole numbers", () => {
    expect(formatNeed("-", aNeed({ cpus: 0.25, memoryMb: 7000.5 }), CARDS)).toBe("need - 7001 250 0\n");
    expect(formatNeed("-", aNeed({ reservesMachine: true }), CARDS)).toBe("need - 7000 1000 1\n");
  });

  test.each([
    [{}, "cards k 1 0 1000 750 1 * 0"],
    [{ count: 0.5, isReserved: false, utilization: 0.5 }, "cards k 0 500 1000 500 0 * 0"],
    [{ count: 2.5 }, "cards k 2 500 1000 750 1 * 0"],
    [{ count: 1.001 }, "cards k 1 1 1000 750 1 * 0"],
    [{ model: "h100|a100" }, "cards k 1 0 1000 750 1 1 0"],
    [{ model: " 3090 |" }, "cards k 1 0 1000 750 1 0,MIG-7 0"],
    [{ memoryTotalMb: 40_000 }, "cards k 1 0 1000 750 1 1 0"],
    [{ model: "V100" }, "cards k 1 0 1000 750 1 - 0"],
    [{ listed: [1, 0, 0] }, "cards k 1 0 1000 750 1 1,0,0 1"],
    [{ listed: ["GPU-1", "MIG-7"] }, "cards k 1 0 1000 750 1 1,MIG-7 1"],
  ])("names the cards that %j may have", (facts, line) => {
    expect(cardsLine(facts)).toBe(line);
  });

  test("trusts the list where no card was found", () => {
    const need = aNeed({ gpu: aGpuNeed({ listed: [3, "GPU-x"] }) });
    expect(formatNeed("k", need, aCapacity()).split("\n")[1]).toBe("cards k 1 0 1000 750 1 3,GPU-x 1");
  });

  test("has one line per resource", () => {
    const need = aNeed({ resources: { licence: [1], nvme: [1, 0.5] } });
    expect(formatNeed("k", need, CARDS)).toBe(
      "need k 7000 1000 0\nwants k licence 1000\nwants k nvme 1000,500\n",
    );
  });
});

describe("the room of a machine as text", () => {
  test("has the limits of the machine file, and the rules of the batch", () => {
    const spec = aSpec({ maxJobs: 4, keepFree: { memoryMb: 2000, cpus: 1.5, gpus: 1 } });
    const placing = { packs: true, isPolite: true };
    expect(formatRoom({ spec, capacity: aCapacity(), placing, batch: "my batch" })).toBe(
      "batch my?batch\nrule pack\nrule polite\nkeep 2000 1500 1\njobs 4\n",
    );
    expect(formatRoom({ spec: aSpec(), capacity: aCapacity(), batch: "b" })).toBe(
      "batch b\nkeep 0 0 0\njobs -\n",
    );
  });

  test("has one line per card, with letters for what is special about it", () => {
    const capacity = aCapacity({
      gpus: gpus(
        { utilization: 0.5 },
        { isExclusive: true, unusable: "needs a reset" },
        { sharesHostMemory: true, memoryTotalMb: null, memoryFreeMb: null, utilization: null },
        { isMig: true, uuid: "MIG-7", memoryGroup: "GPU-3/1", vendor: "nvidia" },
        { vendor: "amd" },
      ),
    });
    const text = formatRoom({ spec: aSpec({ gpus: [0, 1, 2, 3], excludeGpus: [0] }), capacity, batch: "b" });
    expect(text.split("\n").slice(3, -1)).toEqual([
      "card 0 GPU-0 nvidia 24576 24000 500 x -",
      "card 1 GPU-1 nvidia 24576 24000 0 eb -",
      "card 2 GPU-2 nvidia - - - s -",
      "card 3 MIG-7 nvidia 24576 24000 0 m GPU-3/1",
      "card 4 GPU-4 amd 24576 24000 0 x -",
    ]);
  });

  test("has listed cards that were not found, and trusts listed ones whose memory is unknown", () => {
    const spec = aSpec();
    const unseen = formatRoom({ spec, capacity: aCapacity(), batch: "b", listed: [1, 1] });
    expect(unseen.split("\n").slice(3, -1)).toEqual(["card 1 card-1 nvidia - - - t -"]);
    const capacity = aCapacity({ gpus: gpus({ memoryFreeMb: null }, { memoryFreeMb: null }) });
    const known = formatRoom({ spec, capacity, batch: "b", listed: [1] });
    expect(known.split("\n").slice(3, -1)).toEqual([
      "card 0 GPU-0 nvidia 24576 - 0 - -",
      "card 1 GPU-1 nvidia 24576 - 0 t -",
    ]);
  });

  test("has one line per instance of a resource", () => {
    const spec = aSpec({ resources: { licence: { "0": 1, "1": 1 }, nvme: { "fast one": 0.5 } } });
    const text = formatRoom({ spec, capacity: aCapacity(), batch: "b" });
    expect(text.split("\n").slice(3, -1)).toEqual([
      "res licence 0 1000",
      "res licence 1 1000",
      "res nvme fast?one 500",
    ]);
  });
});
