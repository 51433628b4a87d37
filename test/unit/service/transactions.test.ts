import { expect, test } from "vitest";
import { DiskRefusal } from "../../../src/service/store/disk-refusal.js";
import { loadSqlite, type Sql } from "../../../src/service/store/load-sqlite.js";
import { Transactions } from "../../../src/service/store/transactions.js";
import { aDir } from "./a-record.js";

async function open(): Promise<{
  sql: Sql;
  transactions: Transactions;
  log: string[];
  rows: () => unknown[];
}> {
  const Sqlite = loadSqlite();
  const sql = new Sqlite(`${aDir()}/a.db`);
  sql.exec("PRAGMA journal_mode = WAL; CREATE TABLE rows (x)");
  const log: string[] = [];
  const exec = sql.exec.bind(sql);
  const logged: Sql = {
    exec: (text) => {
      log.push(text);
      exec(text);
    },
    prepare: sql.prepare.bind(sql),
    close: sql.close.bind(sql),
  };
  const rows = () =>
    sql
      .prepare("SELECT length(x) AS x FROM rows ORDER BY rowid")
      .all()
      .map(({ x }) => x);
  return { sql, transactions: new Transactions(logged, () => log.push("undone")), log, rows };
}

test("the writes of one turn of the event loop share a transaction", async () => {
  const { sql, transactions, log, rows } = await open();
  const add = (x: string) =>
    transactions.write(() => Number(sql.prepare("INSERT INTO rows VALUES (?)").run(x).changes));
  expect(await Promise.all([add("a"), add("bb"), add("ccc")])).toEqual([1, 1, 1]);
  expect(log.filter((text) => text === "COMMIT")).toHaveLength(1);
  await add("dddd");
  expect(log.filter((text) => text === "COMMIT")).toHaveLength(2);
  expect(rows()).toEqual([1, 2, 3, 4]);
});

test("a change that throws is undone alone", async () => {
  const { sql, transactions, rows } = await open();
  const add = (x: string, error?: Error) =>
    transactions.write(() => {
      sql.prepare("INSERT INTO rows VALUES (?)").run(x);
      if (error !== undefined) throw error;
    });
  const settled = await Promise.allSettled([add("a"), add("bb", new Error("no such queue")), add("ccc")]);
  expect(settled.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  expect(rows()).toEqual([1, 3]);
});

test("writeNow keeps the order, and is a part of the change that calls it", async () => {
  const { sql, transactions, rows } = await open();
  const insert = (x: string) => sql.prepare("INSERT INTO rows VALUES (?)").run(x);
  const first = transactions.write(() => insert("a"));
  transactions.writeNow(() => {
    insert("bb");
    transactions.writeNow(() => insert("ccc"));
    expect(() =>
      transactions.writeNow(() => {
        insert("dddd");
        throw new Error("inner");
      }),
    ).toThrow("inner");
  });
  expect(rows()).toEqual([1, 2, 3]);
  await first;
});

test("a full disk rejects all writes of the turn, and later writes succeed", async () => {
  const { sql, transactions, log, rows } = await open();
  const add = (bytes: number) =>
    transactions.write(() => sql.prepare("INSERT INTO rows VALUES (zeroblob(?))").run(bytes));
  await add(1);
  sql.exec("PRAGMA max_page_count = 20");
  const settled = await Promise.allSettled([add(2), add(1_000_000), add(3)]);
  const reasons = settled.map((each) => (each.status === "rejected" ? each.reason : null));
  for (const reason of reasons) expect(reason).toBeInstanceOf(DiskRefusal);
  expect((reasons[0] as DiskRefusal).reason).toBe("the disk is full");
  expect(log).toContain("undone");
  await add(4);
  sql.exec("PRAGMA max_page_count = 10000");
  await add(1_000_000);
  expect(rows()).toEqual([1, 4, 1_000_000]);
});
