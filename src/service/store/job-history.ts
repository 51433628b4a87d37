// Limits of the history: which jobs that are over leave the record, a few at a time.

import type { JobId } from "../../model/job.js";
import { text } from "./job-row.js";
import type { Sql, SqlRow, Statement } from "./load-sqlite.js";

export interface HistoryLimits {
  /** The most jobs that are over, in each queue; null: any number. */
  readonly jobs: number | null;
  /** How long they are kept; null: for ever. */
  readonly days: number | null;
}

/** A job that left the record: its results are to be removed. */
export interface PrunedJob {
  readonly queue: string;
  readonly id: JobId;
  readonly results: string;
}

const DAY_MS = 24 * 3_600_000;
/** Takes some milliseconds, in which the service does nothing else. */
const AT_ONCE = 500;
/** The journal of a generation that goes on has its jobs: they must stay. */
const IS_FREE =
  "(given IS NULL OR EXISTS (SELECT 1 FROM generations WHERE id = given AND ended_at IS NOT NULL))";

export class JobHistory {
  readonly #oldest: Statement;
  readonly #older: Statement;
  readonly #counts: Statement;
  readonly #remove: Statement;
  readonly #dropGenerations: Statement;
  readonly #environments: Statement;
  readonly #trees: Statement;

  constructor(sql: Sql) {
    const over = `SELECT queue, id, results FROM jobs WHERE queue = ? AND ended_at IS NOT NULL AND ${IS_FREE}`;
    this.#oldest = sql.prepare(`${over} ORDER BY ended_at, id LIMIT ?`);
    this.#older = sql.prepare(`${over} AND ended_at < ? ORDER BY ended_at, id LIMIT ?`);
    this.#counts = sql.prepare(
      `SELECT name AS queue, coalesce((SELECT sum(jobs) FROM counts
       WHERE queue = name AND state NOT IN ('waiting', 'running', 'held')), 0) AS jobs FROM queues`,
    );
    this.#remove = sql.prepare("DELETE FROM jobs WHERE queue = ? AND id = ?");
    this.#dropGenerations = sql.prepare(
      "DELETE FROM generations WHERE ended_at IS NOT NULL AND NOT EXISTS (SELECT 1 FROM jobs WHERE given = generations.id)",
    );
    this.#environments = sql.prepare(nextValue("environment"));
    this.#trees = sql.prepare(nextValue("tree"));
  }

  /** Belongs into a transaction. Call it again until the answer is empty. */
  prune({ jobs: most, days }: HistoryLimits, now: number): PrunedJob[] {
    const pruned: PrunedJob[] = [];
    for (const { queue, jobs } of this.#counts.all()) {
      const name = String(queue);
      if (days !== null)
        this.#take(pruned, this.#older.all(name, now - days * DAY_MS, AT_ONCE - pruned.length));
      const tooMany =
        most === null ? 0 : Number(jobs) - most - pruned.filter((job) => job.queue === name).length;
      if (tooMany > 0) this.#take(pruned, this.#oldest.all(name, Math.min(tooMany, AT_ONCE - pruned.length)));
      if (pruned.length >= AT_ONCE) break;
    }
    if (pruned.length > 0) this.#dropGenerations.run();
    return pruned;
  }

  /** The hashes of all variables that a job or a queue still needs. */
  environmentsInUse(): Set<string> {
    return valuesOf(this.#environments);
  }

  /** The hashes of all frozen directories that a job still needs. */
  treesInUse(): Set<string> {
    return valuesOf(this.#trees);
  }

  #take(pruned: PrunedJob[], rows: readonly SqlRow[]): void {
    for (const row of rows) {
      const job = { queue: text(row, "queue"), id: Number(row.id), results: text(row, "results") };
      this.#remove.run(job.queue, job.id);
      pruned.push(job);
    }
  }
}

/** The next value in an index, which is faster than DISTINCT: a million jobs have few values. */
function nextValue(column: "environment" | "tree"): string {
  const ofQueues =
    column === "tree"
      ? ""
      : "UNION ALL SELECT environment FROM queues WHERE environment IS NOT NULL AND environment > ?1";
  return `SELECT min(value) AS value FROM (SELECT * FROM (SELECT ${column} AS value FROM jobs
    WHERE ${column} IS NOT NULL AND ${column} > ?1 ORDER BY ${column} LIMIT 1) ${ofQueues})`;
}

function valuesOf(next: Statement): Set<string> {
  const values = new Set<string>();
  let last = "";
  for (;;) {
    const value = next.get(last)?.value;
    if (typeof value !== "string") return values;
    values.add(value);
    last = value;
  }
}
