// The events that watchers of the service hear, for those that come back: the newest ones, by their number.

import type { QueueEvent } from "../../model/queue-event.js";
import { json, text, toJson } from "./job-row.js";
import type { Sql, SqlRow, Statement } from "./load-sqlite.js";

const KEPT = 100_000;
/** So that most events cost no look for old ones. */
const PRUNE_EVERY = 1000;

export class EventLog {
  readonly #kept: number;
  readonly #add: Statement;
  readonly #after: Statement;
  readonly #last: Statement;
  readonly #first: Statement;
  readonly #prune: Statement;

  constructor(sql: Sql, kept = KEPT) {
    this.#kept = kept;
    this.#add = sql.prepare(
      "INSERT INTO events (at, kind, queue, job, data) VALUES (?, ?, ?, ?, ?) RETURNING seq",
    );
    this.#after = sql.prepare("SELECT * FROM events WHERE seq > ? ORDER BY seq LIMIT ?");
    this.#last = sql.prepare("SELECT seq FROM sqlite_sequence WHERE name = 'events'");
    this.#first = sql.prepare("SELECT min(seq) AS seq FROM events");
    this.#prune = sql.prepare("DELETE FROM events WHERE seq <= ?");
  }

  /** Returns it with its number. */
  add(event: Omit<QueueEvent, "seq">): QueueEvent {
    const { at, kind, queue, job, data } = event;
    const seq = Number(this.#add.get(at, kind, queue, job ?? null, toJson(data))?.seq);
    if (seq % PRUNE_EVERY === 0) this.prune();
    return { seq, ...event };
  }

  /** Events after this one, oldest first, at most `limit`; null: some of them are no longer kept, or it never was. */
  after(seq: number, limit = this.#kept): QueueEvent[] | null {
    if (seq > this.last || seq < this.#oldest() - 1) return null;
    return this.#after.all(seq, limit).map(fromRow);
  }

  /** The number of the newest event; 0: there was none. */
  get last(): number {
    return Number(this.#last.get()?.seq ?? 0);
  }

  prune(): void {
    this.#prune.run(this.last - this.#kept);
  }

  #oldest(): number {
    return Number(this.#first.get()?.seq ?? this.last + 1);
  }
}

function fromRow(row: SqlRow): QueueEvent {
  const data = json<Record<string, unknown>>(row.data);
  return {
    seq: Number(row.seq),
    at: Number(row.at),
    kind: row.kind as QueueEvent["kind"],
    queue: text(row, "queue"),
    ...(row.job !== null && { job: Number(row.job) }),
    ...(data !== null && { data }),
  };
}
