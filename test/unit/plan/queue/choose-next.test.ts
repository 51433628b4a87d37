import fc from "fast-check";
import { expect, test } from "vitest";
import {
  type Ahead,
  aheadOfEachSlot,
  chooseNext,
  type Head,
  isBefore,
  isTimeToGive,
} from "../../../../src/plan/queue/choose-next.js";

function aHead(over: Partial<Head> = {}): Head {
  return { kind: "a", id: 1, priority: 0, ...over };
}

function anAhead(counts: Readonly<Record<string, number>> = {}, last: Ahead["last"] = null): Ahead {
  const byKind = new Map(Object.entries(counts));
  return { total: [...byKind.values()].reduce((sum, count) => sum + count, 0), byKind, last };
}

const WINDOW = { most: 4, limit: Number.POSITIVE_INFINITY };

test("the highest priority comes first, and then the lowest id", () => {
  const heads = [aHead({ id: 3 }), aHead({ kind: "b", id: 9, priority: 5 }), aHead({ kind: "c", id: 2 })];
  expect(chooseNext(heads, anAhead(), WINDOW)?.id).toBe(9);
  expect(chooseNext(heads.slice(0, 1).concat(heads.slice(2)), anAhead(), WINDOW)?.id).toBe(2);
});

test("a full window takes no more jobs of a kind that it has", () => {
  expect(chooseNext([aHead()], anAhead({ a: 4 }), WINDOW)).toBeNull();
});

test("jobs of a kind that has no room do not hold up a job of another kind", () => {
  const heads = [aHead({ id: 2 }), aHead({ kind: "b", id: 7 })];
  expect(chooseNext(heads, anAhead({ a: 4 }), WINDOW)?.id).toBe(7);
});

test("a job that is more urgent than the last one ahead is given, although the window is full", () => {
  const ahead = anAhead({ a: 4 }, { id: 4, priority: 0 });
  expect(chooseNext([aHead({ id: 99, priority: 1 })], ahead, WINDOW)?.id).toBe(99);
  expect(chooseNext([aHead({ id: 99 })], ahead, WINDOW)).toBeNull();
});

test("no job is given beyond the limit of the queue, however urgent it is", () => {
  const ahead = anAhead({ a: 2 }, { id: 4, priority: 0 });
  expect(chooseNext([aHead({ id: 99, priority: 1 })], ahead, { most: 8, limit: 2 })).toBeNull();
  expect(chooseNext([aHead({ id: 99, priority: 1 })], ahead, { most: 8, limit: 3 })?.id).toBe(99);
});

test.each([
  [null, null, 1],
  [5000, null, 1],
  [100, null, 10],
  [1, null, 200],
  [0, null, 200],
  [5000, 7, 7],
  [5000, "all", Number.POSITIVE_INFINITY],
] as const)("jobs that take %s ms, asked %s: %s ahead of each slot", (usualMs, asked, expected) => {
  expect(aheadOfEachSlot(usualMs, asked)).toBe(expected);
});

test("jobs are given again when a third of the window is used up", () => {
  expect([0, 1].map((ahead) => isTimeToGive(ahead, 1))).toEqual([true, false]);
  expect([6, 7].map((ahead) => isTimeToGive(ahead, 9))).toEqual([true, false]);
});

test("with a window for one kind, jobs are chosen in the order in which they start", () => {
  const job = fc.record({ id: fc.integer({ min: 1, max: 50 }), priority: fc.integer({ min: -3, max: 3 }) });
  fc.assert(
    fc.property(fc.uniqueArray(job, { selector: ({ id }) => id, maxLength: 20 }), (jobs) => {
      const waiting = new Map(jobs.map((each) => [each.id, each]));
      const chosen: Head[] = [];
      while (waiting.size > 0) {
        const heads = [...waiting.values()].map((each) => ({ ...each, kind: "a" }));
        const next = chooseNext(heads, anAhead(), WINDOW) as Head;
        waiting.delete(next.id);
        chosen.push(next);
      }
      for (const [at, one] of chosen.entries()) {
        const after = chosen[at + 1];
        if (after !== undefined) expect(isBefore(one, after)).toBe(true);
      }
    }),
  );
});
