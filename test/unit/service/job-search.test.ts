import { expect, test } from "vitest";
import { UserError } from "../../../src/errors.js";
import type { JobQuery } from "../../../src/model/queue.js";
import { addJobs, aRecord, SUCCEEDED } from "./a-record.js";
import { aQueue } from "./new-job.js";

async function aBusyRecord() {
  const record = await aRecord();
  record.transactions.writeNow(() => record.queues.add(aQueue({ name: "gpu" }), null, 2));
  addJobs(record, [
    { name: "train-a" },
    { name: "train-b" },
    { command: "python Eval.py" },
    { name: "test[1]" },
    {},
    {},
  ]);
  addJobs(record, [{ enqueuedAt: 1003.5 }, { enqueuedAt: 9999 }], "gpu");
  record.transactions.writeNow(() => {
    record.jobs.ended("default", 2, SUCCEEDED);
    record.jobs.ended("default", 4, { ...SUCCEEDED, state: "failed" });
    record.jobs.ended("default", 5, { ...SUCCEEDED, state: "lost" });
    record.jobs.ended("gpu", 1, { ...SUCCEEDED, state: "failed" });
  });
  return record;
}

test.each<[JobQuery, string]>([
  [{}, "gpu/2 default/6 default/5 default/4 gpu/1 default/3 default/2 default/1"],
  [{ limit: 3 }, "gpu/2 default/6 default/5"],
  [{ queue: "default", limit: 2 }, "default/6 default/5"],
  [{ queue: "default", limit: 2, before: 5 }, "default/4 default/3"],
  [{ queue: "default", before: 1 }, ""],
  [{ queue: "default", states: ["failed", "lost"] }, "default/5 default/4"],
  [{ queue: "default", states: ["failed", "lost", "succeeded"], limit: 2, before: 5 }, "default/4 default/2"],
  [{ states: ["failed"] }, "default/4 gpu/1"],
  [{ states: [] }, ""],
  [{ queue: "default", ids: [2, 3, 99] }, "default/3 default/2"],
  [{ queue: "default", ids: [] }, ""],
  [{ names: ["train-a", "test[1]"] }, "default/1"],
  [{ queue: "default", names: ["train-*", "none"] }, "default/2 default/1"],
  [{ queue: "default", names: ["train-b"] }, "default/2"],
  [{ queue: "default", names: ["train-[!a]"] }, "default/2"],
  [{ text: "eval" }, "default/3"],
  [{ queue: "default", text: "AIN-" }, "default/2 default/1"],
  [{ queue: "none" }, ""],
])("the jobs of %j are %s", async (query, expected) => {
  const record = await aBusyRecord();
  const found = record.search.find(query);
  expect(found.map(({ queue, id }) => `${queue}/${id}`).join(" ")).toBe(expected);
});

test("pages of a queue have every job once", async () => {
  const record = await aRecord();
  addJobs(
    record,
    Array.from({ length: 25 }, () => ({})),
  );
  const seen: number[] = [];
  for (;;) {
    const last = seen.at(-1);
    const page = record.search.ids({
      queue: "default",
      limit: 10,
      ...(last !== undefined && { before: last }),
    });
    if (page.length === 0) break;
    seen.push(...page);
  }
  expect(seen).toEqual(Array.from({ length: 25 }, (_, n) => 25 - n));
});

test("a job has no place among the jobs of all queues", async () => {
  const record = await aRecord();
  expect(() => record.search.find({ before: 3 })).toThrow(UserError);
});

test("jobs are found by their exact name, newest first", async () => {
  const record = await aRecord();
  addJobs(record, [{ name: "a" }, { name: "a*" }, { name: "a" }]);
  expect(record.search.named("default", "a")).toEqual([3, 1]);
});

test("heads, pages, counts and names are found through an index", async () => {
  const { loadSqlite } = await import("../../../src/service/store/load-sqlite.js");
  const { IS_READY } = await import("../../../src/service/store/schema.js");
  const record = await aRecord();
  const Sqlite = loadSqlite();
  const sql = new Sqlite(record.file);
  const plan = (query: string) =>
    sql
      .prepare(`EXPLAIN QUERY PLAN ${query}`)
      .all()
      .map(({ detail }) => detail)
      .join("; ");
  const all = "SELECT * FROM jobs WHERE queue = 'q'";
  const plans = [
    plan(`${all} AND kind = 'k' AND ${IS_READY} ORDER BY priority DESC, id LIMIT 1`),
    plan(`${all} AND state = 'failed' AND id < 9 ORDER BY id DESC LIMIT 9`),
    plan(`${all} AND id < 9 ORDER BY id DESC LIMIT 9`),
    plan(`${all} AND name = 'n' ORDER BY id DESC`),
    plan(`${all} AND state = 'waiting' ORDER BY priority DESC, id LIMIT 9`),
    plan("SELECT * FROM jobs WHERE given = 1 ORDER BY id"),
  ];
  sql.close();
  for (const each of plans) expect(each).toMatch(/^SEARCH jobs USING INDEX \w+ \([^)]*\)$/);
});
