import { expect, test } from "vitest";
import {
  parseRoot,
  rootOf,
  seriesIn,
  seriesOf,
  surplusOf,
  takeNumber,
} from "../../../src/plan/generations.js";

test.each([
  ["s.1", "s.1", null],
  ["s.1.out", "s.1", null],
  ["s.1.old-2", "s.1.old-2", { series: "s.1.old-", number: 2 }],
  ["s.1.old-2.err", "s.1.old-2", { series: "s.1.old-", number: 2 }],
  ["s.1.again-10", "s.1.again-10", { series: "s.1.again-", number: 10 }],
  ["s.1.old-2.again-3.out", "s.1.old-2", { series: "s.1.old-", number: 2 }],
  ["s.1.out.old-4", "s.1.out.old-4", { series: "s.1.out.old-", number: 4 }],
  ["old-1", "old-1", null],
  ["a\nb.old-1", "a\nb.old-1", { series: "a\nb.old-", number: 1 }],
  ["notes.old", "notes.old", null],
  ["x.old-1y", "x.old-1y", null],
  ["s.1.old-1700000000000000000", "s.1.old-1700000000000000000", null],
])("%j belongs to %j", (entry, root, parsed) => {
  expect([rootOf(entry), parseRoot(root)]).toEqual([root, parsed]);
});

test("a new number is above all others, whatever was removed below them", () => {
  const series = seriesIn(["s.1.old-3", "s.1.old-3.out", "s.1.old-5.err", "s.2.again-2"]);
  expect([takeNumber(series, "s.1.old-", 1), takeNumber(series, "s.1.old-", 1)]).toEqual([6, 7]);
  expect([takeNumber(series, "s.2.again-", 2), takeNumber(series, "s.1.again-", 2)]).toEqual([3, 2]);
});

test("what is more than may stay is the oldest, by number and not by letters", () => {
  const series = seriesIn(["s.1.old-9", "s.1.old-10", "s.1.old-2.out", "s.1.out.old-1"]);
  expect(surplusOf(series, "s.1.old-", 2)).toEqual(["s.1.old-2"]);
  expect(surplusOf(series, "s.1.old-", 0)).toEqual(["s.1.old-2", "s.1.old-9", "s.1.old-10"]);
  expect(surplusOf(series, "s.1.old-", 5)).toEqual([]);
  const all = seriesOf("s.1").flatMap((name) => surplusOf(series, name, 1));
  expect(all).toEqual(["s.1.old-2", "s.1.old-9"]);
});
