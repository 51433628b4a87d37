import { expect, test } from "vitest";
import { addJobs, aRecord, SUCCEEDED } from "./a-record.js";
import { aQueue } from "./new-job.js";

const DAY = 24 * 3_600_000;

async function withEnded(count: number) {
  const record = await aRecord();
  const ids = addJobs(
    record,
    Array.from({ length: count }, (_, n) => ({ environment: `e${n % 3}`, terms: { tree: `t${n % 2}` } })),
  );
  record.transactions.writeNow(() => {
    for (const id of ids) record.jobs.ended("default", id, { ...SUCCEEDED, at: id * DAY });
  });
  return record;
}

test("of the jobs that are over, the newest stay, and the results of the others are named", async () => {
  const record = await withEnded(4);
  addJobs(record, [{}]);
  const prune = () =>
    record.transactions.writeNow(() => record.history.prune({ jobs: 2, days: null }, 9 * DAY));
  expect(prune()).toEqual(
    [1, 2].map((id) => ({ queue: "default", id, results: `/state/results/default/job/${id}` })),
  );
  expect(prune()).toEqual([]);
  expect(record.search.ids({ queue: "default" })).toEqual([5, 4, 3]);
  expect(record.jobs.counts("default").succeeded).toBe(2);
});

test("jobs that ended too many days ago leave the record, in every queue", async () => {
  const record = await withEnded(4);
  record.transactions.writeNow(() => record.queues.add(aQueue({ name: "gpu" }), null, 1));
  addJobs(record, [{}], "gpu");
  record.transactions.writeNow(() => record.jobs.ended("gpu", 1, { ...SUCCEEDED, at: DAY }));
  const pruned = record.transactions.writeNow(() => record.history.prune({ jobs: null, days: 2 }, 4.5 * DAY));
  expect(pruned.map(({ queue, id }) => `${queue}/${id}`)).toEqual(["default/1", "default/2", "gpu/1"]);
});

test("a job of a generation that goes on stays", async () => {
  const record = await withEnded(2);
  const { id } = record.transactions.writeNow(() => {
    const generation = record.generations.begin("default", {}, 1);
    record.jobs.give("default", [1], generation.id);
    return generation;
  });
  const prune = () =>
    record.transactions
      .writeNow(() => record.history.prune({ jobs: 0, days: null }, 9 * DAY))
      .map((job) => job.id);
  expect(prune()).toEqual([2]);
  record.transactions.writeNow(() => record.generations.end(id, 2));
  expect(prune()).toEqual([1]);
  expect(record.generations.find(id)).toBeNull();
});

test("a large history is pruned in steps", async () => {
  const record = await withEnded(1203);
  const steps: number[] = [];
  for (;;) {
    const pruned = record.transactions.writeNow(() => record.history.prune({ jobs: 3, days: 1 }, 99 * DAY));
    if (pruned.length === 0) break;
    steps.push(pruned.length);
  }
  // Those that ended less than a day before, or later, stay by their days, and leave by their number.
  expect(steps).toEqual([500, 500, 200]);
  expect(record.search.ids({ queue: "default" })).toEqual([1203, 1202, 1201]);
});

test("variables and trees are in use until their last job leaves the record", async () => {
  const record = await withEnded(4);
  record.transactions.writeNow(() => record.queues.add(aQueue({ name: "gpu" }), "e9", 1));
  expect([...record.history.environmentsInUse()]).toEqual(["e0", "e1", "e2", "e9"]);
  expect([...record.history.treesInUse()]).toEqual(["t0", "t1"]);
  record.transactions.writeNow(() => record.jobs.remove("default", [1, 2, 4]));
  expect([...record.history.environmentsInUse()]).toEqual(["e2", "e9"]);
  expect([...record.history.treesInUse()]).toEqual(["t0"]);
});
