import { expect, test } from "vitest";
import type { Capacity } from "../../../src/model/machine.js";
import { aDir, addJobs, aRecord } from "./a-record.js";
import { aQueue } from "./new-job.js";

const added = (job: number) => ({ at: job, kind: "job-added", queue: "default", job }) as const;

test("events are replayed from a number on, with everything that they had", async () => {
  const record = await aRecord();
  const { events, transactions } = record;
  expect([events.last, events.after(0)]).toEqual([0, []]);
  const about = { at: 5, kind: "queue-paused", queue: "default" } as const;
  const changed = { ...added(2), kind: "job-changed", data: { priority: 3 } } as const;
  const all = transactions.writeNow(() => [added(1), changed, about].map((each) => events.add(each)));
  expect(all.map(({ seq }) => seq)).toEqual([1, 2, 3]);
  expect(events.after(1)).toEqual([
    { seq: 2, ...changed },
    { seq: 3, ...about },
  ]);
  expect(events.after(0, 1)).toEqual([{ seq: 1, ...added(1) }]);
  expect([events.after(3), events.last]).toEqual([[], 3]);
});

test("events that are no longer kept, or never were, are no gap in silence", async () => {
  const record = await aRecord({ keptEvents: 10 });
  const { events, transactions } = record;
  transactions.writeNow(() => {
    for (let job = 1; job <= 1000; job++) events.add(added(job));
  });
  expect(events.after(990)?.map(({ seq }) => seq)).toEqual([
    991, 992, 993, 994, 995, 996, 997, 998, 999, 1000,
  ]);
  expect([events.after(989), events.after(0), events.after(1001)]).toEqual([null, null, null]);
});

test("the number of an event is never given twice", async () => {
  const record = await aRecord({ keptEvents: 0 });
  const { events, transactions } = record;
  transactions.writeNow(() => {
    events.add(added(1));
    events.prune();
  });
  expect([events.last, events.after(0), events.after(1)]).toEqual([1, null, []]);
  expect(transactions.writeNow(() => events.add(added(2))).seq).toBe(2);
});

test("an answer is kept for a day", async () => {
  const { answers, transactions } = await aRecord();
  expect(answers.find("k")).toBeNull();
  transactions.writeNow(() => answers.keep("k", { ids: [1, 2] }, 1000));
  transactions.writeNow(() => answers.prune(1000 + 24 * 3_600_000));
  expect(answers.find("k")).toEqual({ ids: [1, 2] });
  transactions.writeNow(() => answers.prune(1001 + 24 * 3_600_000));
  expect(answers.find("k")).toBeNull();
});

test("of two requests with one key at once, one fails as a whole", async () => {
  const record = await aRecord();
  const ask = () =>
    record.transactions.write(() => {
      record.queues.takeIds("default", 1);
      record.answers.keep("k", {}, 1);
    });
  const settled = await Promise.allSettled([ask(), ask()]);
  expect(settled.map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
  expect(addJobs(record, [{}])).toEqual([2]);
});

test("a machine has its last capacity, and drains until a user ends that", async () => {
  const { machines, transactions, queues } = await aRecord({}, aDir());
  const capacity = { cores: 8 } as unknown as Capacity;
  transactions.writeNow(() => {
    queues.add(aQueue({ name: "gpu" }), null, 1);
    machines.setDraining("gpu", "a", true);
    machines.measured("gpu", "a", capacity, 5);
    machines.measured("gpu", "b", capacity, 6);
    machines.measured("default", "a", capacity, 7);
    machines.setDraining("gpu", "b", true);
    machines.setDraining("gpu", "b", false);
  });
  const a = { queue: "gpu", machine: "a", isDraining: true, capacity, measuredAt: 5 };
  expect(machines.of("gpu")).toEqual([a, { ...a, machine: "b", isDraining: false, measuredAt: 6 }]);
  transactions.writeNow(() => machines.remove("gpu", "b"));
  expect(machines.of("gpu")).toEqual([a]);
  transactions.writeNow(() => queues.remove("gpu"));
  expect([machines.of("gpu").length, machines.of("default").length]).toEqual([0, 1]);
});
