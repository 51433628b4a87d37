import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { clockTicks } from "../../../src/page/clock.js";
import { colourAt } from "../../../src/page/colour.js";
import { scaleFor } from "../../../src/page/scale.js";

function labels(...args: Parameters<typeof scaleFor>): string[] {
  return scaleFor(...args).ticks.map(({ label }) => label);
}

test("few values have a tick each, evenly spread if they grow by a factor", () => {
  const sizes = scaleFor(["32", "16", "128", "64"], false);
  expect(sizes.ticks.map(({ label }) => label)).toEqual(["16", "32", "64", "128"]);
  expect(sizes.place("64")).toBeCloseTo(2 / 3);
  expect(scaleFor([10, 20, 30], false).place(20)).toBeCloseTo(0.5);
});

test("many values have round ticks, by magnitude if they differ much", () => {
  const many = Array.from({ length: 40 }, (_, index) => index / 39);
  expect(labels(many, true)).toEqual(["0", "0.2", "0.4", "0.6", "0.8", "1"]);
  expect(
    labels(
      many.map((part) => 10 ** (-5 + 4 * part)),
      true,
    ),
  ).toEqual(["1e-5", "0.0001", "0.001", "0.01", "0.1"]);
});

test("names have a place each; among metrics a value that is no number has none", () => {
  const names = scaleFor(["sgd", "adam", "8", null], false);
  expect(names.ticks.map(({ label }) => label)).toEqual(["8", "adam", "sgd"]);
  expect([names.place("adam"), names.place(null), names.place("other")]).toEqual([0.5, null, null]);
  const metric = scaleFor([1, "nan", 3], true);
  expect([metric.place(1), metric.place("nan"), metric.place(3)]).toEqual([0, null, 1]);
});

describe("for any values", () => {
  const number = fc.double({ noNaN: true, noDefaultInfinity: true });
  test("each has a place, and ticks are few", () => {
    fc.assert(
      fc.property(fc.array(number, { minLength: 1 }), (numbers) => {
        const scale = scaleFor(numbers, true);
        for (const each of numbers) {
          const at = scale.place(each);
          expect(at !== null && at >= -1e-9 && at <= 1 + 1e-9).toBe(true);
        }
        expect(scale.ticks.length).toBeLessThan(20);
        for (const { at } of scale.ticks) expect(at >= -1e-9 && at <= 1 + 1e-9).toBe(true);
      }),
    );
  });
});

test("times are at round steps", () => {
  expect(clockTicks(9_400, 5).map(({ label }) => label)).toEqual(["0s", "2s", "4s", "6s", "8s"]);
  expect(clockTicks(3_700_000, 7).map(({ label }) => label)).toEqual([
    "0s",
    "10m",
    "20m",
    "30m",
    "40m",
    "50m",
    "1h",
  ]);
  expect(clockTicks(450, 5).map(({ label }) => label)).toEqual(["0s", "0.1s", "0.2s", "0.3s", "0.4s"]);
  expect(clockTicks(1e13, 5).length).toBeLessThanOrEqual(6);
});

test("colours lie between the ends", () => {
  expect([colourAt(0), colourAt(1), colourAt(2)]).toEqual([
    "rgb(63 127 214)",
    "rgb(240 136 58)",
    "rgb(240 136 58)",
  ]);
});
