// The jobs of the service's record: what is read of one, and every change of one. Changes belong into a transaction.

import type { Dependency, JobId, Outcome } from "../../model/job.js";
import type { QueueCounts, QueueJob } from "../../model/queue.js";
import type { JobWord } from "../../model/standing.js";
import type { JobEdges } from "./job-edges.js";
import type { JobHeads } from "./job-heads.js";
import {
  fromRow,
  insideOf,
  isAmong,
  type JobInside,
  NEW_COLUMNS,
  type NewJob,
  text,
  toColumns,
  toJson,
} from "./job-row.js";
import type { Sql, SqlRow, SqlValue, Statement } from "./load-sqlite.js";

export interface Started {
  readonly machine: string;
  readonly got: QueueJob["got"];
  readonly at: number;
  readonly attempt: number;
}

export interface Ended {
  readonly state: Extract<JobWord, "succeeded" | "failed" | "stopped" | "lost" | "skipped">;
  readonly at: number;
  readonly outcome: Outcome | null;
  readonly durationMs: number | null;
  readonly footprint: QueueJob["footprint"];
  readonly stderrTail: string | null;
  readonly reason: string | null;
}

export interface JobWithInside {
  readonly job: QueueJob;
  readonly inside: JobInside;
}

const NO_COUNTS: QueueCounts = {
  succeeded: 0,
  failed: 0,
  stopped: 0,
  lost: 0,
  skipped: 0,
  running: 0,
  waiting: 0,
  held: 0,
};

export class StoredJobs {
  readonly #heads: JobHeads;
  readonly #edges: JobEdges;
  readonly #add: Statement;
  readonly #find: Statement;
  readonly #counts: Statement;
  readonly #given: Statement;
  readonly #waiting: Statement;
  readonly #place: Statement;
  readonly #give: Statement;
  readonly #remove: Statement;
  readonly #kinds: Statement;
  readonly #sql: Sql;
  readonly #updates = new Map<string, Statement>();

  constructor(sql: Sql, heads: JobHeads, edges: JobEdges) {
    this.#sql = sql;
    this.#heads = heads;
    this.#edges = edges;
    this.#add = sql.prepare(
      `INSERT INTO jobs (${NEW_COLUMNS.join(", ")}) VALUES (${NEW_COLUMNS.map(() => "?").join(", ")})`,
    );
    this.#find = sql.prepare("SELECT * FROM jobs WHERE queue = ? AND id = ?");
    this.#kinds = sql.prepare("SELECT kind FROM jobs WHERE queue = ? AND id = ?");
    this.#counts = sql.prepare("SELECT state, jobs FROM counts WHERE queue = ?");
    this.#given = sql.prepare("SELECT * FROM jobs WHERE given = ? ORDER BY id");
    this.#waiting = sql.prepare(
      "SELECT * FROM jobs WHERE queue = ? AND state = 'waiting' ORDER BY priority DESC, id LIMIT ?",
    );
    this.#place = sql.prepare(
      `SELECT count(*) AS place FROM jobs INDEXED BY jobs_waiting JOIN (SELECT priority AS p, id AS i FROM jobs
       WHERE queue = ?1 AND id = ?2 AND state = 'waiting')
       WHERE queue = ?1 AND state = 'waiting' AND (priority > p OR (priority = p AND id <= i))`,
    );
    this.#give = sql.prepare(
      "UPDATE jobs SET given = ?, turns = turns + 1, reason = NULL WHERE queue = ? AND id = ?",
    );
    this.#remove = sql.prepare("DELETE FROM jobs WHERE queue = ? AND id = ?");
  }

  add(queue: string, jobs: readonly NewJob[]): void {
    for (const job of jobs) {
      const columns = toColumns(queue, job);
      this.#add.run(...columns);
      for (const dependency of job.after)
        this.#edges.add(queue, job.id, dependency, isAmong(job.met ?? [], dependency));
      this.#heads.note(queue, columns[NEW_COLUMNS.indexOf("kind")] as string);
    }
  }

  /** Null: there is none. */
  find(queue: string, id: JobId): QueueJob | null {
    return this.findWithInside(queue, id)?.job ?? null;
  }

  findWithInside(queue: string, id: JobId): JobWithInside | null {
    const row = this.#find.get(queue, id);
    return row === undefined ? null : withInside(row);
  }

  counts(queue: string): QueueCounts {
    const rows = this.#counts.all(queue).map((row) => [text(row, "state"), Number(row.jobs)] as const);
    return { ...NO_COUNTS, ...Object.fromEntries(rows) };
  }

  /** All that a generation was given and did not give back, also those that are over; by id. */
  givenTo(generation: number): JobWithInside[] {
    return this.#given.all(generation).map(withInside);
  }

  /** The first waiting jobs, in the order in which they start, also those that are held or come after others. */
  firstWaiting(queue: string, count: number): QueueJob[] {
    return this.#waiting.all(queue, count).map(fromRow);
  }

  /** Its place among the waiting jobs of its queue, from 1; null: it does not wait. */
  placeOf(queue: string, id: JobId): number | null {
    return Number(this.#place.get(queue, id)?.place ?? 0) || null;
  }

  /** The jobs belong to this generation from now on. */
  give(queue: string, ids: readonly JobId[], generation: number): void {
    for (const id of ids) {
      this.#give.run(generation, queue, id);
      this.#note(queue, id);
    }
  }

  /** They wait again, and belong to no generation: taken back, or to be run once more. */
  putBack(queue: string, ids: readonly JobId[], reason: string | null = null): void {
    const blank = { outcome: null, footprint: null, stderr_tail: null, ended_at: null, duration_ms: null };
    const begun = { machine: null, got: null, started_at: null };
    for (const id of ids)
      this.#change(queue, id, { state: "waiting", given: null, reason, ...blank, ...begun });
  }

  started(queue: string, id: JobId, { machine, got, at, attempt }: Started): void {
    const begun = { machine, got: toJson(got), started_at: at, attempt, reason: null };
    this.#change(queue, id, { state: "running", ...begun });
  }

  /** Also of a job that never began. */
  ended(queue: string, id: JobId, end: Ended): void {
    this.#change(queue, id, {
      state: end.state,
      held: 0,
      ended_at: end.at,
      outcome: toJson(end.outcome),
      duration_ms: end.durationMs,
      footprint: toJson(end.footprint),
      stderr_tail: end.stderrTail,
      reason: end.reason,
    });
  }

  setHeld(queue: string, id: JobId, isHeld: boolean): void {
    this.#change(queue, id, { held: Number(isHeld) });
  }

  setPriority(queue: string, id: JobId, priority: number): void {
    this.#change(queue, id, { priority });
  }

  /** Why it waits. */
  setReason(queue: string, id: JobId, reason: string | null): void {
    this.#change(queue, id, { reason });
  }

  /** The job that it comes after has ended as it needs, or is to run once more. */
  setMet(queue: string, id: JobId, dependency: Dependency, isMet: boolean): void {
    this.#change(queue, id, { unmet: this.#edges.setMet(queue, id, dependency, isMet) });
  }

  remove(queue: string, ids: readonly JobId[]): void {
    for (const id of ids) {
      this.#note(queue, id);
      this.#remove.run(queue, id);
    }
  }

  #change(queue: string, id: JobId, columns: Readonly<Record<string, SqlValue>>): void {
    const names = Object.keys(columns);
    const key = names.join();
    const update =
      this.#updates.get(key) ??
      this.#sql.prepare(
        `UPDATE jobs SET ${names.map((name) => `${name} = ?`).join(", ")} WHERE queue = ? AND id = ?`,
      );
    this.#updates.set(key, update);
    if (Number(update.run(...Object.values(columns), queue, id).changes) === 0)
      throw new Error(`the record has no job ${queue}/${id}`);
    this.#note(queue, id);
  }

  #note(queue: string, id: JobId): void {
    const row = this.#kinds.get(queue, id);
    if (row !== undefined) this.#heads.note(queue, text(row, "kind"));
  }
}

function withInside(row: SqlRow): JobWithInside {
  return { job: fromRow(row), inside: insideOf(row) };
}
