// The generations of the service's record: each is a batch that jobs of a queue are given to.

import { json, text } from "./job-row.js";
import type { Sql, SqlRow, Statement } from "./load-sqlite.js";

export interface Generation {
  readonly id: number;
  readonly queue: string;
  readonly beganAt: number;
  /** Null: it goes on. */
  readonly endedAt: number | null;
  /** What the service needs to restart it, such as its journal. */
  readonly data: Readonly<Record<string, unknown>>;
}

export class GenerationRows {
  readonly #begin: Statement;
  readonly #change: Statement;
  readonly #end: Statement;
  readonly #open: Statement;
  readonly #find: Statement;

  constructor(sql: Sql) {
    this.#begin = sql.prepare("INSERT INTO generations (queue, began_at, data) VALUES (?, ?, ?) RETURNING *");
    this.#change = sql.prepare("UPDATE generations SET data = ? WHERE id = ?");
    this.#end = sql.prepare("UPDATE generations SET ended_at = ? WHERE id = ?");
    this.#open = sql.prepare("SELECT * FROM generations WHERE ended_at IS NULL ORDER BY id");
    this.#find = sql.prepare("SELECT * FROM generations WHERE id = ?");
  }

  /** Its id is new, also if all others were removed. */
  begin(queue: string, data: Generation["data"], now: number): Generation {
    return fromRow(this.#begin.get(queue, now, JSON.stringify(data)) as SqlRow);
  }

  setData(id: number, data: Generation["data"]): void {
    this.#change.run(JSON.stringify(data), id);
  }

  end(id: number, now: number): void {
    this.#end.run(now, id);
  }

  /** Those that go on, oldest first. */
  open(): Generation[] {
    return this.#open.all().map(fromRow);
  }

  /** Null: there is none. */
  find(id: number): Generation | null {
    const row = this.#find.get(id);
    return row === undefined ? null : fromRow(row);
  }
}

function fromRow(row: SqlRow): Generation {
  return {
    id: Number(row.id),
    queue: text(row, "queue"),
    beganAt: Number(row.began_at),
    endedAt: row.ended_at as number | null,
    data: json<Generation["data"]>(text(row, "data")) ?? {},
  };
}
