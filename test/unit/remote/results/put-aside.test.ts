import { expect, test } from "vitest";
import { findExcluded } from "../../../../src/remote/results/put-aside.js";

const NAMES = [
  "1/work/a/",
  "1/work/a/cache/",
  "1/work/a/cache/x.ckpt",
  "1/work/a/x.ckpt",
  "1/work/data",
  "2/work/a/y.txt",
];

test.each([
  [["*.ckpt"], ["1/work/a/cache/x.ckpt", "1/work/a/x.ckpt"]],
  [["cache/"], ["1/work/a/cache"]],
  [["/a"], ["1/work/a", "2/work/a/y.txt"]],
  [["data/"], []],
  [["/a/*.ckpt"], ["1/work/a/x.ckpt"]],
  [["**/cache/*"], ["1/work/a/cache/x.ckpt"]],
  [["1", "work"], []],
])("%j in the results of two jobs", (exclude, expected) => {
  expect(findExcluded(NAMES, exclude)).toEqual(expected);
});

test("a name outside of a job's results is never excluded", () => {
  expect(findExcluded(["x.ckpt", "1/out", "/etc/x.ckpt", "1/work/"], ["*"])).toEqual([]);
});
