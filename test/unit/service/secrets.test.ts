import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { openDatabase } from "../../../src/service/store/open-database.js";
import { aDir, addJobs, aRecord } from "./a-record.js";

const LATER = 10 * 60_000;

test("equal variables are kept once, and come back from a reopened record", async () => {
  const dir = aDir();
  const record = await openDatabase(dir);
  const hash = record.secrets.keep({ B: "2", A: "1\n" }, 1);
  expect(record.secrets.keep({ A: "1\n", B: "2" }, 2)).toBe(hash);
  expect(record.secrets.keep({ A: "1\n", B: "3" }, 2)).not.toBe(hash);
  record.close();
  const again = await openDatabase(dir);
  expect(again.secrets.load(hash)).toEqual({ A: "1\n", B: "2" });
  expect(again.secrets.keep({ A: "1\n", B: "2" }, 3)).toBe(hash);
  again.close();
});

test("values are in secrets.db alone, and a sweep removes them from its files", async () => {
  const dir = aDir();
  const record = await aRecord({}, dir);
  const having = (value: string) =>
    readdirSync(dir).filter((name) => readFileSync(path.join(dir, name)).includes(value));
  const [kept, gone] = ["kept-value-1", "gone-value-2"].map((KEY) => record.secrets.keep({ KEY }, 1));
  addJobs(record, [{ environment: kept ?? null }, { environment: gone ?? null }]);
  for (const value of ["kept-value-1", "gone-value-2"])
    for (const name of having(value)) expect(name).toMatch(/^secrets\.db/);
  record.transactions.writeNow(() => record.jobs.remove("default", [2]));
  record.secrets.sweep(record.history.environmentsInUse(), LATER);
  expect(having("gone-value-2")).toEqual([]);
  expect(record.secrets.load(gone ?? "")).toBeNull();
  expect(record.secrets.load(kept ?? "")).toEqual({ KEY: "kept-value-1" });
});

test("a sweep leaves variables whose job is about to be added", async () => {
  const record = await aRecord();
  const hash = record.secrets.keep({ A: "1" }, 1);
  record.secrets.sweep(new Set(), 50_000);
  expect(record.secrets.load(hash)).toEqual({ A: "1" });
  record.secrets.keep({ A: "1" }, LATER - 1);
  record.secrets.sweep(new Set(), LATER);
  expect(record.secrets.load(hash)).toEqual({ A: "1" });
  record.secrets.sweep(new Set(), 2 * LATER);
  expect(record.secrets.load(hash)).toBeNull();
});

test("two records have different hashes for the same variables, so a value cannot be guessed from its hash", async () => {
  const [one, other] = [await aRecord(), await aRecord()];
  expect(one.secrets.keep({ A: "1" }, 1)).not.toBe(other.secrets.keep({ A: "1" }, 1));
});
