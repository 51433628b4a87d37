// The queues of the service's record.

import type { JobId } from "../../model/job.js";
import type { KeptQueue, Queue, QueueSpec } from "../../model/queue.js";
import type { JobHeads } from "./job-heads.js";
import { json, text } from "./job-row.js";
import type { Sql, SqlRow, Statement } from "./load-sqlite.js";

export class QueueRows {
  readonly #all: Statement;
  readonly #find: Statement;
  readonly #add: Statement;
  readonly #change: Statement;
  readonly #pause: Statement;
  readonly #pauseAll: Statement;
  readonly #remove: Statement;
  readonly #forgetCounts: Statement;
  readonly #ids: Statement;
  readonly #keepNextId: Statement;
  readonly #heads: JobHeads;

  constructor(sql: Sql, heads: JobHeads) {
    this.#heads = heads;
    this.#keepNextId = sql.prepare(
      "INSERT OR REPLACE INTO meta SELECT 'next id of ' || name, next_id FROM queues WHERE name = ?",
    );
    this.#all = sql.prepare("SELECT * FROM queues ORDER BY created_at, name");
    this.#find = sql.prepare("SELECT * FROM queues WHERE name = ?");
    this.#add = sql.prepare(
      `INSERT INTO queues (name, spec, environment, created_at, next_id)
       SELECT ?1, ?2, ?3, ?4, coalesce((SELECT CAST(value AS INTEGER) FROM meta WHERE name = 'next id of ' || ?1), 1)`,
    );
    this.#change = sql.prepare("UPDATE queues SET spec = ? WHERE name = ?");
    this.#pause = sql.prepare("UPDATE queues SET is_paused = ? WHERE name = ?");
    this.#pauseAll = sql.prepare("UPDATE queues SET is_paused = ?");
    this.#remove = sql.prepare("DELETE FROM queues WHERE name = ?");
    this.#forgetCounts = sql.prepare("DELETE FROM counts WHERE queue = ?");
    this.#ids = sql.prepare("UPDATE queues SET next_id = next_id + ? WHERE name = ? RETURNING next_id");
  }

  all(): Queue[] {
    return this.#all.all().map(fromRow);
  }

  /** Null: there is none. */
  find(name: string): Queue | null {
    const row = this.#find.get(name);
    return row === undefined ? null : fromRow(row);
  }

  /** The hash of its variables in the secrets; null: it has none. */
  environmentOf(name: string): string | null {
    return (this.#find.get(name)?.environment ?? null) as string | null;
  }

  add(spec: QueueSpec, environment: string | null, now: number): void {
    this.#add.run(spec.name, JSON.stringify(spec), environment, now);
  }

  /** Its machines were changed. */
  setSpec(spec: KeptQueue): void {
    this.#change.run(JSON.stringify(spec), spec.name);
  }

  /** Null: all queues. */
  setPaused(name: string | null, isPaused: boolean): void {
    if (name === null) this.#pauseAll.run(Number(isPaused));
    else this.#pause.run(Number(isPaused), name);
  }

  /** Returns the first of `count` new ids. They are never given twice. */
  takeIds(name: string, count: number): JobId {
    const row = this.#ids.get(count, name);
    if (row === undefined) throw new Error(`the record has no queue ${name}`);
    return Number(row.next_id) - count;
  }

  /** With its jobs and machines. A later queue of the same name goes on counting: results have the ids in their paths. */
  remove(name: string): void {
    this.#keepNextId.run(name);
    this.#remove.run(name);
    this.#forgetCounts.run(name);
    this.#heads.forget(name);
  }
}

function fromRow(row: SqlRow): Queue {
  const { joined = [], ...spec } = json<KeptQueue>(text(row, "spec")) as KeptQueue;
  return { ...spec, joined, isPaused: row.is_paused === 1, createdAt: Number(row.created_at) };
}
