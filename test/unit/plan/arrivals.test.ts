import { describe, expect, test } from "vitest";
import { Arrivals } from "../../../src/plan/arrivals.js";

const free = () => false;
const jobs = (...commands: string[]) =>
  commands.map((command, index) => ({ id: index + 1, line: index + 1, name: `stdin.${index + 1}`, command }));

describe("what comes for the first time", () => {
  test("is numbered by its line", () => {
    const arrivals = new Arrivals({ known: [], highest: 0, base: 0 });
    expect([1, 2, 5].map((line) => arrivals.number("a", line, free))).toEqual([1, 2, 5]);
  });

  test("comes after what there was, when that is done", () => {
    const arrivals = new Arrivals({ known: [], highest: 7, base: 7 });
    expect([1, 3].map((line) => arrivals.number("a", line, free))).toEqual([8, 10]);
  });

  test("gets no number under which results are in place", () => {
    const arrivals = new Arrivals({ known: [], highest: 0, base: 0 });
    expect(arrivals.number("a", 1, (number) => number < 4)).toBe(4);
    expect(arrivals.number("b", 2, free)).toBe(5);
  });
});

describe("what comes again", () => {
  test("keeps its number, each as often as it was there", () => {
    const arrivals = new Arrivals({ known: jobs("a", "b", "a"), highest: 3, base: 0 });
    const numbers = ["a", "a", "b", "a"].map((command, index) => arrivals.number(command, index + 1, free));
    expect(numbers).toEqual([1, 3, 2, 4]);
  });

  test("what is new in between comes after all that is known", () => {
    const arrivals = new Arrivals({ known: jobs("a", "b"), highest: 2, base: 0 });
    const numbers = ["new", "a", "b", "last"].map((command, index) =>
      arrivals.number(command, index + 1, free),
    );
    expect(numbers).toEqual([3, 1, 2, 4]);
  });
});
