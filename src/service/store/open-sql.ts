// Opens one SQLite file of the service, and brings its tables to the newest schema.

import path from "node:path";
import { UserError } from "../../errors.js";
import { describeNewer, VERSION } from "../../model/version.js";
import type { Sql, SqlConstructor } from "./load-sqlite.js";
import { APPLICATION_ID } from "./schema.js";

/** WAL: readers such as `sqlite3 FILE` block nothing. FULL: a commit is on the disk when it returns. */
const PRAGMAS = `
PRAGMA busy_timeout = 5000;
PRAGMA journal_mode = WAL;
PRAGMA synchronous = FULL;
PRAGMA foreign_keys = ON;
PRAGMA cache_size = -16000;
PRAGMA journal_size_limit = 16777216;
`;

export function openSql(Sqlite: SqlConstructor, file: string, migrations: readonly string[]): Sql {
  const sql = new Sqlite(file);
  try {
    checkOwner(sql, file);
    sql.exec(PRAGMAS);
    migrate(sql, file, migrations);
    return sql;
  } catch (error) {
    sql.close();
    throw isNotDatabase(error) ? foreign(file, error) : error;
  }
}

/** Leaves one file, where the disk allows it. */
export function closeSql(sql: Sql): void {
  try {
    sql.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  } catch {
    // The disk is full: the next start reads the journal.
  }
  sql.close();
}

/** Before anything is written to the file. */
function checkOwner(sql: Sql, file: string): void {
  const isEmpty = sql.prepare("SELECT 1 AS found FROM sqlite_schema LIMIT 1").get() === undefined;
  if (!isEmpty && numberOf(sql, "application_id") !== APPLICATION_ID) throw foreign(file, undefined);
}

function foreign(file: string, cause: unknown): UserError {
  return new UserError(`${file} is not a record of the service`, {
    hint: `move it away, or choose another directory: sshoal serve --state DIR`,
    cause,
  });
}

const NOT_A_DATABASE = 26;

function isNotDatabase(error: unknown): boolean {
  return (error as { errcode?: number }).errcode === NOT_A_DATABASE;
}

function migrate(sql: Sql, file: string, migrations: readonly string[]): void {
  const version = numberOf(sql, "user_version");
  if (version > migrations.length) {
    const writer = sql.prepare("SELECT value FROM meta WHERE name = 'version'").get()?.value;
    const { message, hint } = describeNewer(typeof writer === "string" ? writer : null);
    throw new UserError(`${path.basename(file)} was ${message}`, { hint });
  }
  if (version === migrations.length) return;
  sql.exec("BEGIN IMMEDIATE");
  try {
    for (const each of migrations.slice(version)) sql.exec(each);
    sql.exec(`PRAGMA user_version = ${migrations.length}; PRAGMA application_id = ${APPLICATION_ID}`);
    sql.prepare("INSERT OR REPLACE INTO meta VALUES ('version', ?)").run(VERSION);
    sql.exec("COMMIT");
  } catch (error) {
    sql.exec("ROLLBACK");
    throw error;
  }
}

function numberOf(sql: Sql, pragma: "application_id" | "user_version"): number {
  return Number(sql.prepare(`PRAGMA ${pragma}`).get()?.[pragma]);
}
