// Answers to requests that had a key, so that a repeated request changes nothing and gets the same answer.

import { json } from "./job-row.js";
import type { Sql, Statement } from "./load-sqlite.js";

const KEPT_MS = 24 * 3_600_000;

export class AnswerKeys {
  readonly #find: Statement;
  readonly #keep: Statement;
  readonly #prune: Statement;

  constructor(sql: Sql) {
    this.#find = sql.prepare("SELECT answer FROM answers WHERE key = ?");
    this.#keep = sql.prepare("INSERT INTO answers VALUES (?, ?, ?)");
    this.#prune = sql.prepare("DELETE FROM answers WHERE at < ?");
  }

  /** Null: the request is new. */
  find<T>(key: string): T | null {
    return json<T>(this.#find.get(key)?.answer);
  }

  /** Belongs into the transaction of the request. */
  keep(key: string, answer: unknown, now: number): void {
    this.#keep.run(key, JSON.stringify(answer), now);
  }

  /** They are kept for a day. */
  prune(now: number): void {
    this.#prune.run(now - KEPT_MS);
  }
}
