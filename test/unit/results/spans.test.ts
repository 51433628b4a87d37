import fc from "fast-check";
import { expect, test } from "vitest";
import type { Seat } from "../../../src/model/result.js";
import { spansOf } from "../../../src/results/spans.js";

const GOOD = { kind: "exited", code: 0 } as const;
const NOW = 1_000_000;

function aSeat(startedAt: number | null, endedAt: number | null, durationMs: number | null): Seat {
  const outcome = endedAt === null ? null : GOOD;
  return { machine: "one", slot: 0, startedAt, endedAt, durationMs, outcome };
}

function timesOf(seats: Record<string, Seat>, isRunning = false) {
  const spans = spansOf({ seats: new Map(Object.entries(seats)), isRunning: () => isRunning, now: NOW });
  return [...spans.values()].map(({ line, start, end, state }) => [line, start, end, state]);
}

test("what was followed is where it was seen", () => {
  expect(timesOf({ "0000001-1": aSeat(100, 200, 100), "0000002-1": aSeat(205, 305, 100) })).toEqual([
    [1, 100, 200, "succeeded"],
    [2, 205, 305, "succeeded"],
  ]);
});

test("an end that was learned late does not make a job longer than it was", () => {
  expect(timesOf({ "0000001-1": aSeat(100, 90_000, 500) })).toEqual([[1, 100, 600, "succeeded"]]);
});

test("jobs that ran while nobody looked come one after the other, before they were heard of", () => {
  const at = 50_000;
  expect(
    timesOf({
      "0000001-1": aSeat(at, at, 1000),
      "0000002-1": aSeat(at + 1, at + 1, 2000),
      "0000003-1": aSeat(at + 2, at + 9000, 8998),
    }),
  ).toEqual([
    [1, 47_001, 48_001, "succeeded"],
    [2, 48_001, 50_001, "succeeded"],
    [3, 50_002, 59_000, "succeeded"],
  ]);
});

test("what runs has lasted until now, if it is known since when", () => {
  expect(timesOf({ "0000001-1": aSeat(900_000, null, null) }, true)).toEqual([[1, 900_000, NOW, "running"]]);
  expect(timesOf({ "0000001-1": aSeat(null, null, null) }, true)).toEqual([]);
  expect(timesOf({ "0000001-1": aSeat(900_000, null, null) }, false)).toEqual([]);
});

test("a slot never has two jobs at a time, and each lasts as long as its machine says", () => {
  const seat = fc.record({ gap: fc.nat(5000), late: fc.nat(100_000), durationMs: fc.nat(10_000) });
  fc.assert(
    fc.property(fc.array(seat, { maxLength: 20 }), (drawn) => {
      let at = 0;
      const seats = drawn.map(({ gap, late, durationMs }, index) => {
        const start = at + gap;
        at = start + durationMs;
        return [
          `${String(index + 1).padStart(7, "0")}-1`,
          aSeat(start + late, at + late, durationMs),
        ] as const;
      });
      const spans = [...spansOf({ seats: new Map(seats), isRunning: () => false, now: NOW }).values()];
      expect(spans).toHaveLength(drawn.length);
      spans.forEach(({ start, end }, index) => {
        expect(end - start).toBe(drawn[index]?.durationMs);
        expect(end).toBeLessThanOrEqual(spans[index + 1]?.start ?? Number.POSITIVE_INFINITY);
      });
    }),
  );
});
