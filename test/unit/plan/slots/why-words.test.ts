import { describe, expect, test } from "vitest";
import { memoryAfter, memoryWords } from "../../../../src/plan/slots/memory-words.js";
import { parseReason } from "../../../../src/plan/slots/parse-reason.js";
import { rowWords } from "../../../../src/plan/slots/row-words.js";
import { whyWords } from "../../../../src/plan/slots/why-words.js";
import { aCapacity, aCardClaim, aClaim, aHolder, gpus } from "../a-machine.js";

test.each([
  [24_576, "24 GB"],
  [18_566, "18.1 GB"],
  [1024, "1 GB"],
  [1023, "1023 MB"],
  [0, "0 MB"],
])("%i MB are %s", (mb, words) => {
  expect(memoryWords(mb)).toBe(words);
});

test("too little memory never looks like enough", () => {
  expect([memoryWords(16_380, "down"), memoryAfter(16_380, 16_390, "up")]).toEqual(["15.9 GB", "16.1"]);
  expect(memoryAfter(812, 16_384)).toBe("16 GB");
});

const SHARED = aCapacity({
  gpus: gpus(
    {
      holders: [aHolder({ user: "alice", program: "python", memoryMb: 4096 }), aHolder({ isClaimed: true })],
    },
    {},
  ),
  claims: [
    aClaim({ job: "14", memoryMb: 2048, cards: [aCardClaim({ memoryMb: 2048 })] }),
    aClaim({ owner: "bob", batch: "sweep.sh", memoryMb: 9000, cards: [aCardClaim({ uuid: "GPU-1" })] }),
  ],
});
const AT_HOME = { capacity: SHARED, file: "machines/gpu-2.yaml" };

describe("why a job waits", () => {
  test.each([
    [
      "cards:1000:0 card:0:memory:20480:18566:24576 card:1:excluded",
      "card 0 has 18.1 GB free of 24, needs 20: alice's python 4 GB, sshoal job 14 declared 2 GB; " +
        "card 1 excluded by machines/gpu-2.yaml",
    ],
    ["cards:1000:0 card:0:memory:20480:812:24576", /^card 0 has 812 MB free of 24 GB, needs 20: /],
    ["cards:1000:0 card:0:kept card:1:kept", "cards 0, 1 kept free for people"],
    [
      "cards:1000:0 card:0:taken:-:sweep.sh:14 card:1:taken:bob:big:-",
      "card 0 taken by sshoal job 14; card 1 taken by bob's sshoal batch big",
    ],
    ["cards:1000:0 card:1:use:750:600", "card 1 60 % in use, needs 75 of 120 %"],
    ["cards:500:0 card:1:amount:500:400 card:2:amount:500:400", "cards 1, 2 have 0.4 free, needs 0.5"],
    ["cards:2000:1 card:0:person", "needs 2 cards, 1 suitable; card 0 in use by alice (--polite)"],
    ["cards:4000:5", "needs 4 cards, 5 suitable"],
    [
      "memory:65536:20480 cores:8000:500",
      "20 GB of memory free, needs 64: bob's sshoal batch sweep.sh declared 8.8 GB, sshoal job 14 declared 2 GB; " +
        "room for 2.5 cores, needs 8",
    ],
    [
      "machine:bob:big jobs:4",
      "the machine is in use by bob's sshoal batch big; as many jobs as max_jobs allows: 4",
    ],
    ["res:licence:1500:500 kept:0000001-9", "licence: 0.5 free, needs 1.5; kept for job 0000001-9"],
    ["memory:- cores:-", "its free memory cannot be read; its free cores cannot be read"],
  ])("%s", (reason, words) => {
    const line = whyWords(parseReason(reason), AT_HOME);
    if (typeof words === "string") expect(line).toBe(words);
    else expect(line).toMatch(words);
  });

  test("names a waiting job as the user knows it, and leaves out what is not known", () => {
    const unknown = { capacity: null, file: null, nameOf: () => "189" };
    expect(whyWords(parseReason("kept:0000001-9"), unknown)).toBe("kept for job 189");
    expect(whyWords(parseReason("cards:1000:0 card:0:excluded card:1:bad"), unknown)).toBe(
      "card 0 excluded by its machine file; card 1 not usable",
    );
    const broken = { capacity: aCapacity({ gpus: gpus({ unusable: "needs a reset" }) }), file: null };
    expect(whyWords(parseReason("cards:1000:0 card:0:bad"), broken)).toBe(
      "card 0 not usable: it needs a reset",
    );
  });
});

describe("why a job waits, in a row", () => {
  const BOB = aCapacity({
    gpus: gpus(
      {},
      { holders: [aHolder({ user: "bob", memoryMb: 9000 }), aHolder({ user: "bob", memoryMb: 1035 })] },
    ),
  });
  const wait = (machine: string, reason: string, capacity = BOB) => ({
    machine,
    capacity,
    shortages: parseReason(reason),
  });

  test("the card that is nearest, its users, and machines that are busy", () => {
    expect(
      rowWords([
        wait("gpu2", "cards:1000:0 card:0:taken:-:b:19 card:1:memory:16384:14541:24576"),
        wait("gpu1", "cards:1000:0 card:0:taken:-:b:14"),
      ]),
    ).toBe("needs 16 GB; gpu2:1 has 14.2 free (bob 9.8), gpu1 busy");
  });

  test.each([
    ["cards:2000:0 card:0:taken:-:b:1", "needs 2 cards; gpu1 has 0"],
    ["memory:65536:20480", "needs 64 GB of memory; gpu1 has 20 free"],
    ["cores:8000:500", "needs 8 cores; gpu1 has room for 2.5"],
    ["res:licence:1000:500", "needs licence 1; gpu1 has 0.5 free"],
    ["kept:9", "gpu1 kept for 9"],
    ["memory:-", "gpu1 cannot be measured"],
    ["jobs:4", "gpu1 busy"],
    ["cards:1000:0 card:0:excluded", "needs 1 card; gpu1 has 0"],
  ])("%s", (reason, words) => {
    expect(rowWords([wait("gpu1", reason)])).toBe(words);
  });

  test("machines that lack different things", () => {
    expect(rowWords([wait("a", "memory:2048:1024"), wait("b", "cores:4000:0")])).toBe(
      "needs 2 GB of memory; a has 1 free, b has room for 2 (needs 4 cores)",
    );
  });
});
