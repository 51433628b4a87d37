import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Distribution } from "../../../src/model/sweep.js";
import { draw } from "../../../src/sweep/draw.js";
import { seededRandom } from "../../../src/sweep/random.js";

function drawMany(distribution: Distribution, count = 4000): string[] {
  const random = seededRandom(1);
  return Array.from({ length: count }, () => draw(distribution, random));
}

const share = (numbers: number[], isIn: (number: number) => boolean) =>
  numbers.filter(isIn).length / numbers.length;

describe("the distribution", () => {
  test("log: every decade is equally likely", () => {
    const numbers = drawMany({ kind: "log", low: 1e-4, high: 1 }).map(Number);
    for (const decade of [1e-4, 1e-3, 1e-2, 1e-1]) {
      expect(share(numbers, (each) => each >= decade && each < decade * 10)).toBeCloseTo(0.25, 1);
    }
  });

  test("uniform: every part of the range is equally likely", () => {
    const numbers = drawMany({ kind: "uniform", low: -1, high: 3 }).map(Number);
    for (const start of [-1, 0, 1, 2]) {
      expect(share(numbers, (each) => each >= start && each < start + 1)).toBeCloseTo(0.25, 1);
    }
  });

  test("int: whole numbers, including both ends", () => {
    expect([...new Set(drawMany({ kind: "int", low: -1, high: 2 }))].sort()).toEqual(["-1", "0", "1", "2"]);
  });

  test("normal: about two thirds within one deviation of the mean", () => {
    const numbers = drawMany({ kind: "normal", mean: 10, deviation: 2 }).map(Number);
    expect(numbers.reduce((sum, each) => sum + each, 0) / numbers.length).toBeCloseTo(10, 0);
    expect(share(numbers, (each) => Math.abs(each - 10) < 2)).toBeCloseTo(0.68, 1);
    expect(share(numbers, (each) => each < 10)).toBeCloseTo(0.5, 1);
  });
});

const finite = fc.double({ min: -1e9, max: 1e9, noNaN: true });

test("numbers are short, read back exactly, and stay in their range", () => {
  fc.assert(
    fc.property(fc.maxSafeNat(), finite, finite, fc.constantFrom("uniform", "log"), (seed, a, b, kind) => {
      const [low, high] =
        kind === "log"
          ? [Math.abs(a) + 1e-9, Math.abs(a) + 1e-9 + Math.abs(b)]
          : [a, b].sort((x, y) => x - y);
      fc.pre(low !== undefined && high !== undefined && low < high);
      const text = draw({ kind, low: low as number, high: high as number }, seededRandom(seed));
      expect(String(Number(text))).toBe(text);
      expect(Number(text)).toBeGreaterThanOrEqual(low as number);
      expect(Number(text)).toBeLessThanOrEqual(high as number);
    }),
  );
  for (const text of drawMany({ kind: "uniform", low: 0, high: 1 })) {
    expect(text.replace(/e.*$/, "").replace(/^0\.0*|\./, "").length).toBeLessThanOrEqual(6);
  }
});

test("rounding never leaves the range", () => {
  for (const kind of ["uniform", "log"] as const) {
    const range = { kind, low: 0.60000041, high: 0.99999991 };
    expect(draw(range, () => 0)).toBe("0.60000041");
    expect(draw(range, () => 0xffffffff)).toBe("0.99999991");
  }
});

test("values of a narrow range far from zero are distinct", () => {
  expect(new Set(drawMany({ kind: "uniform", low: 1e6, high: 1e6 + 1 }, 500)).size).toBeGreaterThan(490);
  expect(new Set(drawMany({ kind: "normal", mean: 1e6, deviation: 1 }, 500)).size).toBeGreaterThan(490);
});
