// Loads SQLite, only when the service opens its record: that of Node where Node has one, else a package with the same calls.

import { createRequire } from "node:module";
import { UserError } from "../../errors.js";

/** The calls of both that the service uses. */
export interface Sql {
  exec(sql: string): void;
  prepare(sql: string): Statement;
  close(): void;
}

export type SqlValue = string | number | null;
export type SqlRow = Readonly<Record<string, SqlValue>>;

export interface Statement {
  run(...values: SqlValue[]): { changes: number | bigint };
  get(...values: SqlValue[]): SqlRow | undefined;
  all(...values: SqlValue[]): SqlRow[];
}

export type SqlConstructor = new (file: string) => Sql;

export function loadSqlite(): SqlConstructor {
  const builtIn = quietly(() => requireOrNull("node:sqlite"));
  const found = builtIn ?? requireOrNull("@photostructure/sqlite");
  if (found !== null) return found.DatabaseSync;
  throw new UserError(
    `Node ${process.versions.node} has no SQLite, and @photostructure/sqlite is not installed`,
    {
      hint: "use Node 22.13 or newer, or install sshoal again without --omit=optional",
    },
  );
}

interface SqliteModule {
  readonly DatabaseSync: SqlConstructor;
}

/** By require: `import()` does not work in code that is kept compiled (src/start.ts). */
function requireOrNull(name: "node:sqlite" | "@photostructure/sqlite"): SqliteModule | null {
  try {
    return createRequire(import.meta.url)(name) as SqliteModule;
  } catch {
    return null;
  }
}

/** Node 22 prints a warning that its SQLite is experimental. */
function quietly<T>(load: () => T): T {
  const { emitWarning } = process;
  process.emitWarning = () => {};
  try {
    return load();
  } finally {
    process.emitWarning = emitWarning;
  }
}
