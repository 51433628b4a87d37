import { expect, test } from "vitest";
import { isWanted } from "../../../src/sweep/rules.js";
import { aRule } from "./a-sweep.js";

const VALUES = new Map([
  ["a", "1"],
  ["b", "1.0"],
  ["c", "10"],
  ["lr", "1e-3"],
  ["model", "vit"],
  ["other", "resnet"],
  ["empty", ""],
]);

function holds(text: string): boolean {
  return isWanted({ when: [aRule(text)], reject: [] }, VALUES);
}

test.each([
  ["a == b", true],
  ["a != b", false],
  ["a == '1'", true],
  ["b == '1'", false],
  ["lr == 0.001", true],
  ["lr < 0.01", true],
  ["c > 9", true],
  ["c > '9'", false],
  ["c >= 10 and c <= 10", true],
  ["model == 'vit'", true],
  ['model == "resnet"', false],
  ["model == other", false],
  ["model > other", true],
  ["model == 1", false],
  ["model != 1", true],
  ["empty == ''", true],
  ["empty == 0", false],
  ["not a == b", false],
  ["not not a == b", true],
  ["a == 2 or a == 1", true],
  ["a == 1 or a == 2 and a == 3", true],
  ["(a == 1 or a == 2) and a == 3", false],
  ["not a == 2 and not (a == 3 or b == 4)", true],
  ["-1 < a", true],
])("%s is %s", (text, expected) => {
  expect(holds(text)).toBe(expected);
});

test("a combination must meet every when, and no reject", () => {
  const [yes, no] = [aRule("a == 1"), aRule("a == 2")];
  expect(isWanted({ when: [], reject: [] }, VALUES)).toBe(true);
  expect(isWanted({ when: [yes, no], reject: [] }, VALUES)).toBe(false);
  expect(isWanted({ when: [yes], reject: [no] }, VALUES)).toBe(true);
  expect(isWanted({ when: [yes], reject: [no, yes] }, VALUES)).toBe(false);
});

test("a number and a text cannot be ordered", () => {
  expect(() => holds("c < model")).toThrow(
    's.yaml:1:1: "c < model" asks whether 10 < vit, but 10 is a number and vit is not',
  );
});
