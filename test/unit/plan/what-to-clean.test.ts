import { expect, test } from "vitest";
import type { LeftBatch, LeftTree } from "../../../src/model/left-over.js";
import { decideCleaning, type Verdict, type Wishes } from "../../../src/plan/what-to-clean.js";

const DAY = 86_400;

function aBatch(facts: Partial<LeftBatch> = {}): LeftBatch {
  return { name: "b", bytes: 1, isAlive: false, running: 0, waiting: 0, toCollect: 0, kept: [], ...facts };
}

function aTree(facts: Partial<LeftTree> = {}): LeftTree {
  return { name: "a".repeat(40), bytes: 1, ageSeconds: DAY, usedBy: [], ...facts };
}

function judge(batches: LeftBatch[], trees: LeftTree[], wishes: Partial<Wishes> = {}): Verdict[] {
  const plan = decideCleaning({ batches, trees }, { named: new Set(), followed: new Map(), ...wishes });
  return [...plan.batches, ...plan.trees].map(({ verdict }) => verdict);
}

const remove = { kind: "remove" };
const keep = (reason: string) => ({ kind: "keep", reason });

test.each<[string, LeftBatch, Verdict]>([
  ["holds nothing", aBatch(), { kind: "remove" }],
  ["has results", aBatch({ toCollect: 2 }), { kind: "keep", reason: "2 to collect" }],
  ["has waiting jobs", aBatch({ waiting: 1 }), { kind: "keep", reason: "1 waiting" }],
  ["is alive", aBatch({ isAlive: true }), { kind: "keep", reason: "in use" }],
  [
    "runs",
    aBatch({ isAlive: true, running: 1, waiting: 3 }),
    { kind: "keep", reason: "in use, 1 running, 3 waiting" },
  ],
])("a batch that %s", (_, batch, verdict) => {
  expect(judge([batch], [])).toEqual([verdict]);
});

test("a batch that a local client follows stays, even if its connection is down", () => {
  const followed = new Map([["b", "followed by process 12"]]);
  expect(judge([aBatch()], [], { followed })).toEqual([keep("followed by process 12")]);
  expect(judge([aBatch()], [], { followed, named: new Set(["b"]) })).toEqual([
    { kind: "refuse", reason: "followed by process 12" },
  ]);
});

test("a named batch is removed with its results, unless it is in use; then the others stay", () => {
  const batches = [
    aBatch({ toCollect: 2 }),
    aBatch({ name: "alive", isAlive: true }),
    aBatch({ name: "other" }),
  ];
  expect(judge(batches, [], { named: new Set(["b", "alive"]) })).toEqual([
    remove,
    { kind: "refuse", reason: "in use" },
    keep("not asked for"),
  ]);
});

test.each<[string, LeftTree, Verdict]>([
  ["no batch uses", aTree(), { kind: "remove" }],
  ["only a removed batch uses", aTree({ usedBy: ["b"] }), { kind: "remove" }],
  ["a batch uses", aTree({ usedBy: ["b", "c"] }), { kind: "keep", reason: "used by c" }],
  [
    "another machine's batch uses",
    aTree({ usedBy: [null] }),
    { kind: "keep", reason: "used by a batch of another machine" },
  ],
  ["is fresh", aTree({ ageSeconds: 599 }), { kind: "keep", reason: "a new batch may need it" }],
  ["is of unknown age", aTree({ ageSeconds: null }), { kind: "keep", reason: "its age is unknown" }],
  [
    "is still arriving",
    aTree({ name: "incoming.12", ageSeconds: DAY - 1 }),
    { kind: "keep", reason: "a new batch may need it" },
  ],
  ["never arrived", aTree({ name: "incoming.12" }), { kind: "remove" }],
])("a tree that %s", (_, tree, verdict) => {
  const batches = [aBatch(), aBatch({ name: "c", waiting: 1 })];
  expect(judge(batches, [tree]).at(-1)).toEqual(verdict);
});

test("a batch that keeps directories for next attempts stays, and names their jobs", () => {
  const kept = ["t.1", "t.2", "t.3", "t.4", "t.5", "t.6"];
  expect(judge([aBatch({ kept: ["t.1"] }), aBatch({ kept })], [])).toEqual([
    { kind: "keep", reason: "a directory is kept until its job succeeds: t.1" },
    {
      kind: "keep",
      reason: "directories are kept until their jobs succeed: t.1, t.2, t.3, t.4, t.5 and 1 more",
    },
  ]);
  expect(judge([aBatch({ kept })], [], { named: new Set(["b"]) })).toEqual([{ kind: "remove" }]);
});
