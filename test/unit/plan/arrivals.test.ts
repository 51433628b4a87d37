import { describe, expect, test } from "vitest";
import { Arrivals } from "../../../src/plan/arrivals.js";

const free = () => false;
const jobs = (...commands: string[]) =>
  commands.map((command, index) => ({ id: index + 1, line: index + 1, name: `stdin.${index + 1}`, command }));

describe("a command that arrives for the first time", () => {
  test("gets the number of its line", () => {
    const arrivals = new Arrivals({ known: [], highest: 0, base: 0 });
    expect([1, 2, 5].map((line) => arrivals.number("a", line, free))).toEqual([1, 2, 5]);
  });

  test("comes after the earlier jobs if those are done", () => {
    const arrivals = new Arrivals({ known: [], highest: 7, base: 7 });
    expect([1, 3].map((line) => arrivals.number("a", line, free))).toEqual([8, 10]);
  });

  test("gets no number under which results exist", () => {
    const arrivals = new Arrivals({ known: [], highest: 0, base: 0 });
    expect(arrivals.number("a", 1, (number) => number < 4)).toBe(4);
    expect(arrivals.number("b", 2, free)).toBe(5);
  });
});

describe("a command that arrives again", () => {
  test("keeps its number, as often as it was there", () => {
    const arrivals = new Arrivals({ known: jobs("a", "b", "a"), highest: 3, base: 0 });
    const numbers = ["a", "a", "b", "a"].map((command, index) => arrivals.number(command, index + 1, free));
    expect(numbers).toEqual([1, 3, 2, 4]);
  });

  test("new commands in between come after all known ones", () => {
    const arrivals = new Arrivals({ known: jobs("a", "b"), highest: 2, base: 0 });
    const numbers = ["new", "a", "b", "last"].map((command, index) =>
      arrivals.number(command, index + 1, free),
    );
    expect(numbers).toEqual([3, 1, 2, 4]);
  });
});
