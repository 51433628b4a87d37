import fc from "fast-check";
import { expect, test } from "vitest";
import { below, fraction, jobSeed, seededRandom, shuffle, xoshiro128 } from "../../../src/sweep/random.js";

function take(count: number, next: () => number): number[] {
  return Array.from({ length: count }, () => next());
}

test("xoshiro128** gives the numbers of its authors' program", () => {
  expect(take(10, xoshiro128([1, 2, 3, 4]))).toEqual([
    11520, 0, 5927040, 70819200, 2031721883, 1637235492, 1287239034, 3734860849, 3729100597, 4258142804,
  ]);
});

test("a seed fills the state as the authors advise, by splitmix64", () => {
  expect(take(2, seededRandom(1))).toEqual([1695105466, 1423115009]);
});

test("a seed gives these numbers, in every release", () => {
  expect(take(3, seededRandom(0))).toMatchInlineSnapshot(`
    [
      3737715805,
      2584255861,
      2876756834,
    ]
  `);
  expect(take(3, seededRandom(2 ** 53 - 1))).toMatchInlineSnapshot(`
    [
      1233166643,
      1287031142,
      661813442,
    ]
  `);
  expect([1, 2, 3].map((number) => jobSeed(0, number))).toMatchInlineSnapshot(`
    [
      531980030,
      1990897303,
      1670299396,
    ]
  `);
});

test("fractions are spread over 0 to 1", () => {
  const random = seededRandom(3);
  const fractions = take(10_000, () => fraction(random));
  expect(fractions.every((each) => each >= 0 && each < 1)).toBe(true);
  const tenths = take(10, () => 0);
  for (const each of fractions) tenths[Math.floor(each * 10)] = (tenths[Math.floor(each * 10)] ?? 0) + 1;
  for (const count of tenths) expect(Math.abs(count - 1000)).toBeLessThan(150);
});

test("below: all numbers are equally likely", () => {
  const random = seededRandom(4);
  const counts = [0, 0, 0];
  for (let round = 0; round < 9000; round += 1) {
    const drawn = below(random, 3);
    counts[drawn] = (counts[drawn] ?? 0) + 1;
  }
  for (const count of counts) expect(Math.abs(count - 3000)).toBeLessThan(200);
});

test("shuffling loses and adds nothing, and each order occurs", () => {
  const random = seededRandom(5);
  const orders = new Map<string, number>();
  for (let round = 0; round < 6000; round += 1) {
    const items = [1, 2, 3];
    shuffle(items, random);
    orders.set(items.join(""), (orders.get(items.join("")) ?? 0) + 1);
  }
  expect([...orders.keys()].sort()).toEqual(["123", "132", "213", "231", "312", "321"]);
  for (const count of orders.values()) expect(Math.abs(count - 1000)).toBeLessThan(150);
});

test("no two jobs have the same seed, and it fits in 31 bits", () => {
  fc.assert(
    fc.property(fc.maxSafeNat(), fc.nat({ max: 1_000_000 }), (seed, from) => {
      const seeds = Array.from({ length: 500 }, (_, index) => jobSeed(seed, from + index));
      expect(new Set(seeds).size).toBe(500);
      expect(seeds.every((each) => Number.isInteger(each) && each >= 0 && each < 2 ** 31)).toBe(true);
    }),
    { numRuns: 50 },
  );
});
