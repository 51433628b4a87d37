import { describe, expect, test } from "vitest";
import { UserError } from "../../../../src/errors.js";
import { parseCapacity } from "../../../../src/input/queue/parse-capacity.js";

function refusalOf(text: string): UserError {
  try {
    parseCapacity(text);
  } catch (error) {
    if (error instanceof UserError) return error;
    throw error;
  }
  throw new Error(`${text} was taken`);
}

describe("what a queue has", () => {
  test.each([
    ["{gpu: 2}", { gpu: { 0: 1, 1: 1 } }],
    ["{gpu: '2'}", { gpu: { 0: 1, 1: 1 } }],
    ["{gpu: [1, '0.5']}", { gpu: { 0: 1, 1: 0.5 } }],
    ["{gpu: {left: 1, right: 0.5}}", { gpu: { left: 1, right: 0.5 } }],
    ["{RAM: [512], cpu: 1}", { RAM: { 0: 512 }, cpu: { 0: 1 } }],
  ])("%s", (text, capacity) => {
    expect(parseCapacity(text)).toEqual({ capacity, notes: [] });
  });

  test("a large count is taken, with a hint at one instance", () => {
    const { capacity, notes } = parseCapacity("{RAM: 512}");
    expect(Object.keys(capacity.RAM ?? {})).toHaveLength(512);
    expect(notes).toEqual([expect.stringContaining("one instance that has 512 is {RAM: [512]}")]);
  });
});

describe("mistakes", () => {
  test("in JSON5 have their line and column", () => {
    expect(refusalOf("{gpu: 4,\n cpu 16}").message).toMatch(/line 2, column 6/);
  });

  test("a count that is not whole names the spelling for one instance", () => {
    expect(refusalOf("{RAM: 1.5}").hint).toBe("one instance that has 1.5 is {RAM: [1.5]}");
  });

  test.each([
    "[4]",
    "4",
    "{}",
    "{gpu: 0}",
    "{gpu: -1}",
    "{gpu: []}",
    "{gpu: null}",
    "{gpu: [0]}",
    "{gpu: Infinity}",
  ])("%s", (text) => {
    expect(refusalOf(text).exitCode).toBe(2);
  });

  test.each([
    "{__proto__: 1}",
    "{constructor: 1}",
    "{gpu: {__proto__: 1}}",
    "{gpu: {constructor: 1}}",
    "{'a b': 1}",
  ])("names that objects or commands give another meaning: %s", (text) => {
    expect(refusalOf(text).message).toMatch(/has the (name|instance)/);
  });
});
