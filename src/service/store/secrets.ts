// The variables of jobs and queues, whose values may be secrets. They are in a file of their own, and nowhere else.

import { createHmac, randomBytes } from "node:crypto";
import { writing } from "./disk-refusal.js";
import { json, text } from "./job-row.js";
import type { Sql, Statement } from "./load-sqlite.js";

export type Environment = Readonly<Record<string, string>>;

/** Between keeping variables and the job that needs them there may be this time. */
const GRACE_MS = 60_000;

export class Secrets {
  readonly #sql: Sql;
  readonly #key: Buffer;
  readonly #find: Statement;
  readonly #add: Statement;
  readonly #touch: Statement;
  readonly #old: Statement;
  readonly #remove: Statement;

  constructor(sql: Sql) {
    this.#sql = sql;
    sql.exec("PRAGMA secure_delete = ON");
    this.#key = loadKey(sql);
    this.#find = sql.prepare("SELECT variables, kept_at FROM environments WHERE hash = ?");
    this.#add = sql.prepare("INSERT INTO environments VALUES (?, ?, ?)");
    this.#touch = sql.prepare("UPDATE environments SET kept_at = ? WHERE hash = ?");
    this.#old = sql.prepare("SELECT hash FROM environments WHERE kept_at < ?");
    this.#remove = sql.prepare("DELETE FROM environments WHERE hash = ?");
  }

  /** They are safe on the disk when this returns. Equal variables have an equal hash, from which no value can be guessed. */
  keep(environment: Environment, now: number): string {
    const sorted = Object.entries(environment).sort(([a], [b]) => (a < b ? -1 : 1));
    const variables = JSON.stringify(Object.fromEntries(sorted));
    const hash = createHmac("sha256", this.#key).update(JSON.stringify(sorted)).digest("hex").slice(0, 40);
    const known = this.#find.get(hash);
    if (known === undefined) writing(() => this.#add.run(hash, variables, now));
    else if (Math.abs(now - Number(known.kept_at)) > GRACE_MS / 2) writing(() => this.#touch.run(now, hash));
    return hash;
  }

  /** Null: no longer kept. */
  load(hash: string): Environment | null {
    return json<Environment>(this.#find.get(hash)?.variables);
  }

  /** Deletes all others from the file. */
  sweep(hashesInUse: ReadonlySet<string>, now: number): void {
    const old = this.#old.all(now - GRACE_MS).map((row) => text(row, "hash"));
    const unused = old.filter((hash) => !hashesInUse.has(hash));
    for (const hash of unused) this.#remove.run(hash);
    // The journal of SQLite still has them.
    if (unused.length > 0) this.#sql.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  }
}

function loadKey(sql: Sql): Buffer {
  const find = sql.prepare("SELECT value FROM meta WHERE name = 'key'");
  sql.prepare("INSERT OR IGNORE INTO meta VALUES ('key', ?)").run(randomBytes(32).toString("hex"));
  return Buffer.from(String(find.get()?.value), "hex");
}
