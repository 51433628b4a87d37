import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseReason } from "../../../src/model/parse-reason.js";
import type { Shortage } from "../../../src/model/shortage.js";
import { formatReason } from "../../../src/plan/slots/format-reason.js";

const on = (index: number, why: Extract<Shortage, { kind: "gpus" }>["refused"][number]["why"]) => ({
  gpu: { index },
  why,
});

const GOLDEN: [string, Shortage[]][] = [
  ["machine:bob:big", [{ kind: "machine-held", owner: "bob", batch: "big" }]],
  ["machine:-:big", [{ kind: "machine-held", owner: "", batch: "big" }]],
  ["jobs:4", [{ kind: "max-jobs", maxJobs: 4, claimed: 0 }]],
  ["memory:7000:5120", [{ kind: "memory", neededMb: 7000, freeMb: 5120 }]],
  ["memory:- cores:-", [{ kind: "memory-unknown" }, { kind: "cpus-unknown" }]],
  ["cores:4000:-1500", [{ kind: "cpus", needed: 4, free: -1.5 }]],
  ["res:licence:1500:500", [{ kind: "resource", name: "licence", needed: 1.5, free: 0.5 }]],
  ["kept:0000001-1", [{ kind: "kept", key: "0000001-1" }]],
  ["cards:2500:1", [{ kind: "gpus", needed: 2.5, available: 1, refused: [] }]],
  [
    "cards:1000:0 card:0:memory:16000:14541:24576 card:1:memory:1:0:- card:2:unknown card:3:use:750:600 " +
      "card:4:taken:bob:sweep.sh:14 card:5:taken:-:-:- card:6:amount:500:400 card:7:excluded card:8:bad " +
      "card:9:exclusive card:10:slice card:11:kept card:12:person card:13:listed",
    [
      {
        kind: "gpus",
        needed: 1,
        available: 0,
        refused: [
          on(0, { kind: "memory", neededMb: 16_000, freeMb: 14_541, totalMb: 24_576 }),
          on(1, { kind: "memory", neededMb: 1, freeMb: 0, totalMb: null }),
          on(2, { kind: "memory-unknown" }),
          on(3, { kind: "utilization", needed: 0.75, used: 0.6 }),
          on(4, { kind: "taken", owner: "bob", batch: "sweep.sh", job: "14" }),
          on(5, { kind: "taken", batch: null }),
          on(6, { kind: "amount", needed: 0.5, free: 0.4 }),
          on(7, { kind: "not-allowed" }),
          on(8, { kind: "unusable", reason: "" }),
          on(9, { kind: "exclusive-in-use" }),
          on(10, { kind: "slice" }),
          on(11, { kind: "kept-free" }),
          on(12, { kind: "other-person" }),
          on(13, { kind: "all-listed" }),
        ],
      },
    ],
  ],
];

test.each(GOLDEN)("%s", (words, shortages) => {
  expect(parseReason(words)).toEqual(shortages);
  expect(formatReason(shortages)).toBe(words);
});

describe("a machine's words", () => {
  test.each([
    "",
    "memory:7000",
    "memory:7e3:1",
    "memory:7000:-1",
    "memory:7000:1:x",
    "cores::",
    "jobs:99999999999999999",
    "card:0:bad",
    "card:x:bad",
    "kept:$(id)",
    "kept:\u001b[31m",
    "machine:a:b:c",
    "constructor",
    "unknown:1",
  ])("%j has no meaning", (word) => {
    expect(parseReason(word)).toEqual([]);
    expect(parseReason(`jobs:4 ${word} memory:-`)).toEqual([
      { kind: "max-jobs", maxJobs: 4, claimed: 0 },
      { kind: "memory-unknown" },
    ]);
  });

  test("never fail to be read, and are read in bounds", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 300 }), (text) => {
        expect(Array.isArray(parseReason(text))).toBe(true);
      }),
    );
    expect(parseReason("jobs:4 ".repeat(1e6)).length).toBeLessThan(2000);
  });

  test("are plain, whatever names are in them", () => {
    const shortages: Shortage[] = [{ kind: "machine-claimed", owner: "a b", batch: "x:y\n" }];
    expect(formatReason(shortages)).toBe("machine:a?b:x?y?");
  });

  test("leave out limits that only a forecast has", () => {
    expect(formatReason([{ kind: "too-many", limit: 9 }, { kind: "memory-unknown" }])).toBe("memory:-");
  });
});
