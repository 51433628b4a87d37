import { expect, test } from "vitest";
import type { SpoolEvent } from "../../../../src/remote/spool/spool-event.js";
import { inTrueOrder } from "../../../../src/remote/spool/true-order.js";

const keyOf = (job: number) => `5000000000${String(job).padStart(3, "0")}-${job}-1`;
const started = (job: number, slot: number, startedAt: number | null): SpoolEvent => ({
  kind: "started",
  key: keyOf(job),
  slot,
  startedAt,
  facts: new Map(),
});
const ended = (job: number, slot: number, durationMs: number): SpoolEvent => ({
  kind: "ended",
  key: keyOf(job),
  slot,
  outcome: { kind: "exited", code: 0 },
  durationMs,
  facts: new Map(),
});
const waits = (slot: number, reason: string): SpoolEvent => ({ kind: "waiting", slot, reason });

function told(events: readonly SpoolEvent[]): string[] {
  return inTrueOrder(events).map((event) =>
    "key" in event ? `${event.kind} ${Number(event.key.split("-")[1])}` : event.kind,
  );
}

test("logs that arrive one after the other are passed on in the order in which their jobs began and ended", () => {
  const slot0 = [started(1, 0, 1000), ended(1, 0, 500), started(4, 0, 1510), ended(4, 0, 90)];
  const slot1 = [started(2, 1, 1010), ended(2, 1, 100), started(3, 1, 1120)];
  expect(told([...slot0, ...slot1])).toEqual([
    "started 1",
    "started 2",
    "ended 2",
    "started 3",
    "ended 1",
    "started 4",
    "ended 4",
  ]);
});

test("jobs that began in the same hundredth of a second are passed on in the order of the batch", () => {
  const logs = [started(1, 0, 1000), started(11, 10, 1000), started(2, 1, 1000), started(3, 2, 990)];
  expect(told(logs)).toEqual(["started 3", "started 1", "started 2", "started 11"]);
});

test("without times, as in spools of 0.2, everything stays in the order of its log", () => {
  const events = [started(2, 0, null), ended(2, 0, 10), started(1, 1, null)];
  const order = told(events);
  expect(order.indexOf("started 2")).toBeLessThan(order.indexOf("ended 2"));
  expect(order.toSorted()).toEqual(["ended 2", "started 1", "started 2"]);
});

test("why a slot waited is passed on only while it waits", () => {
  const events = [waits(0, "memory"), started(1, 0, 10), waits(1, "memory"), waits(1, "GPU 1")];
  expect(inTrueOrder(events)).toEqual([waits(1, "GPU 1"), started(1, 0, 10)]);
});

test("of a slot that waits, all reasons are passed on, one per kind of need", () => {
  const waits = (slot: number, job: number): SpoolEvent => ({
    kind: "waits",
    slot,
    key: keyOf(job),
    reasons: ["memory:-"],
  });
  const slot0 = [waits(0, 1), started(1, 0, 10)];
  const slot1 = [waits(1, 2), waits(1, 3)];
  expect(inTrueOrder([...slot0, ...slot1])).toEqual([waits(1, 2), waits(1, 3), started(1, 0, 10)]);
});
