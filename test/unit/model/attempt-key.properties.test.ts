import fc from "fast-check";
import { expect, test } from "vitest";
import { attemptKey, isAttemptKey, parseAttemptKey, rankOf } from "../../../src/model/attempt-key.js";
import type { Job } from "../../../src/model/job.js";

const anId = fc.oneof(fc.integer({ min: 1, max: 30 }), fc.integer({ min: 1, max: 9_999_999_999 }));
const aJob = fc.record(
  {
    id: anId,
    line: fc.constant(null),
    name: fc.constant("a.1"),
    command: fc.constant("true"),
    priority: fc.integer({ min: 0, max: 999 }),
    order: anId,
  },
  { requiredKeys: ["id", "line", "name", "command"] },
);
const aNumber = fc.integer({ min: 1, max: 9999 });

function keyOf(job: Job, number: number): string {
  return attemptKey({ job: job.id, number, rank: rankOf(job) });
}

test("keys sort by priority, then by order", () => {
  fc.assert(
    fc.property(aJob, aJob, aNumber, aNumber, (one, other, first, second) => {
      const [a, b] = [keyOf(one, first), keyOf(other, second)];
      const priorities = (one.priority ?? 500) - (other.priority ?? 500);
      const expected = priorities || (one.order ?? one.id) - (other.order ?? other.id);
      if (expected !== 0) expect(a < b).toBe(expected < 0);
    }),
  );
});

test("a key names its job and its attempt", () => {
  fc.assert(
    fc.property(aJob, aNumber, (job, number) => {
      const key = keyOf(job, number);
      expect(isAttemptKey(key)).toBe(true);
      expect(parseAttemptKey(key)).toEqual({ job: job.id, attempt: number });
    }),
  );
});

test("keys of format 1 are still made and read", () => {
  fc.assert(
    fc.property(anId, aNumber, (job, number) => {
      const key = attemptKey({ job, number, rank: null });
      expect(isAttemptKey(key)).toBe(true);
      expect(parseAttemptKey(key)).toEqual({ job, attempt: number });
    }),
  );
  expect(parseAttemptKey("0000001-1")).toEqual({ job: 1, attempt: 1 });
  expect(attemptKey({ job: 12, number: 3, rank: null })).toBe("0000012-3");
});

test.each([
  "",
  "1-1",
  "0000001",
  "0000001-",
  "5000000000001-1",
  "5000000000001-1-1-1",
  "5000000000001-1-1/x",
])("%j is not a key", (word) => {
  expect(isAttemptKey(word)).toBe(false);
});
