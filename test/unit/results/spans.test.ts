import fc from "fast-check";
import { expect, test } from "vitest";
import type { Attempt, Stage } from "../../../src/model/attempt.js";
import { spansOf } from "../../../src/results/spans.js";

const NOW = 1_000_000;

function anAttempt(job: number, stage: Stage, isCurrent = true): Attempt {
  return { kind: "tried", job, number: 1, rank: null, machine: "one", isCurrent, run: 1, stage };
}

function anEnded(job: number, startedAt: number, endedAt: number, durationMs: number): Attempt {
  const outcome = { kind: "exited", code: 0 } as const;
  return anAttempt(job, { kind: "ended", slot: 0, startedAt, endedAt, durationMs, outcome });
}

function timesOf(...attempts: Attempt[]) {
  const spans = spansOf(attempts, NOW);
  return [...spans.values()].map(({ job, start, end, state }) => [job, start, end, state]);
}

test("a followed attempt is placed where it was seen", () => {
  expect(timesOf(anEnded(1, 100, 200, 100), anEnded(2, 205, 305, 100))).toEqual([
    [1, 100, 200, "succeeded"],
    [2, 205, 305, "succeeded"],
  ]);
});

test("an end that was learned late does not make a job longer", () => {
  expect(timesOf(anEnded(1, 100, 90_000, 500))).toEqual([[1, 100, 600, "succeeded"]]);
});

test("jobs that ran without a client are placed one after the other, before the client learned of them", () => {
  const at = 50_000;
  expect(
    timesOf(anEnded(1, at, at, 1000), anEnded(2, at + 1, at + 1, 2000), anEnded(3, at + 2, at + 9000, 8998)),
  ).toEqual([
    [1, 47_001, 48_001, "succeeded"],
    [2, 48_001, 50_001, "succeeded"],
    [3, 50_002, 59_000, "succeeded"],
  ]);
});

test("a running attempt lasts until now, if its start is known and it counts", () => {
  const running = { kind: "running", slot: 0, isStopping: false } as const;
  const since = { ...running, startedAt: 900_000 };
  expect(timesOf(anAttempt(1, since))).toEqual([[1, 900_000, NOW, "running"]]);
  expect(timesOf(anAttempt(1, { ...running, slot: null, startedAt: null }))).toEqual([]);
  expect(timesOf(anAttempt(1, since, false))).toEqual([]);
});

test("of attempts learned of at once, first attempts come first, in the order of their jobs", () => {
  const retried = { ...anEnded(1, 50_000, 50_000, 10), number: 2 };
  const attempts = [retried, anEnded(3, 50_000, 50_000, 10), anEnded(2, 50_000, 50_000, 10)];
  expect(timesOf(...attempts).map(([line]) => line)).toEqual([2, 3, 1]);
});

test("an attempt's end has the same words as a job's", () => {
  const about = { kind: "ended", slot: 0, startedAt: 1, endedAt: 2, durationMs: 1 } as const;
  const states = [{ kind: "stopped" }, { kind: "lost", reason: "reboot" }, { kind: "timed-out" }] as const;
  expect(
    states.map((outcome) => timesOf(anAttempt(1, { ...about, outcome })).map(([, , , state]) => state)),
  ).toEqual([["stopped"], ["lost"], ["failed"]]);
});

test("a slot never has two jobs at a time, and each has its machine's duration", () => {
  const seat = fc.record({ gap: fc.nat(5000), late: fc.nat(100_000), durationMs: fc.nat(10_000) });
  fc.assert(
    fc.property(fc.array(seat, { maxLength: 20 }), (drawn) => {
      let at = 0;
      let learnedAt = 0;
      // A machine's log is read in order, however late.
      const learn = (late: number) => {
        learnedAt = Math.max(learnedAt, at + late);
        return learnedAt;
      };
      const attempts = drawn.map(({ gap, late, durationMs }, index) => {
        at += gap;
        const startedAt = learn(late);
        at += durationMs;
        return anEnded(index + 1, startedAt, learn(late), durationMs);
      });
      const spans = [...spansOf(attempts, NOW).values()];
      expect(spans).toHaveLength(drawn.length);
      spans.forEach(({ start, end }, index) => {
        expect(end - start).toBe(drawn[index]?.durationMs);
        expect(end).toBeLessThanOrEqual(spans[index + 1]?.start ?? Number.POSITIVE_INFINITY);
      });
    }),
  );
});
