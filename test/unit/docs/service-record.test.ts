// The queries of docs/service-record.md work, and it names every column of the jobs.

import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { loadSqlite } from "../../../src/service/store/load-sqlite.js";
import { addJobs, aRecord, SUCCEEDED } from "../service/a-record.js";

const PAGE = readFileSync(path.join(import.meta.dirname, "../../../docs/service-record.md"), "utf8");
const queries = [...PAGE.matchAll(/```sql\n([^`]*)```/g)].map(([, query = ""]) => query);

test("every query of the page finds the jobs that it promises", async () => {
  const record = await aRecord();
  addJobs(record, [{}, {}, {}]);
  const minutes = { ...SUCCEEDED, at: Date.now(), durationMs: 90_000 };
  record.transactions.writeNow(() => {
    for (const id of [1, 2])
      record.jobs.started("default", id, { machine: "gpu1", got: {}, at: 1, attempt: 1 });
    record.jobs.ended("default", 1, minutes);
    const outcome = { kind: "exited", code: 3 } as const;
    record.jobs.ended("default", 2, { ...minutes, state: "failed", outcome, durationMs: 30_000 });
  });
  const Sqlite = await loadSqlite();
  const sql = new Sqlite(record.file);
  const answers = queries.map((query) =>
    sql
      .prepare(query)
      .all()
      .map((row) => Object.values(row)),
  );
  sql.close();
  expect(answers).toEqual([
    [
      ["default", "failed", 1],
      ["default", "succeeded", 1],
      ["default", "waiting", 1],
    ],
    [
      ["default/1", "gpu1", 1.5],
      ["default/2", "gpu1", 0.5],
    ],
    [[2, "python train.py --seed 2", 3, null]],
    [["gpu1", 2, 120_000 / 3_600_000]],
  ]);
});

test("every column of the jobs is on the page", async () => {
  const record = await aRecord();
  const Sqlite = await loadSqlite();
  const sql = new Sqlite(record.file);
  const columns = sql
    .prepare("SELECT name FROM pragma_table_info('jobs')")
    .all()
    .map(({ name }) => String(name));
  sql.close();
  expect(columns.filter((name) => !PAGE.includes(`\`${name}\``))).toEqual([]);
});
