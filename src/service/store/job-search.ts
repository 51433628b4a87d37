// Finds jobs of the record by ids, names, states and text, newest first.

import { UserError } from "../../errors.js";
import type { JobId } from "../../model/job.js";
import type { JobQuery, QueueJob } from "../../model/queue.js";
import { JOB_WORDS } from "../../model/standing.js";
import { fromRow, text } from "./job-row.js";
import type { Sql, SqlRow, SqlValue, Statement } from "./load-sqlite.js";

/** Statements of different queries that are kept. */
const MOST_STATEMENTS = 50;
const EVERY_JOB = 1_000_000_000;

export class JobSearch {
  readonly #sql: Sql;
  readonly #names: Statement;
  readonly #statements = new Map<string, Statement>();

  constructor(sql: Sql) {
    this.#sql = sql;
    this.#names = sql.prepare("SELECT name FROM queues");
  }

  /** Within a queue by id, of several queues by the time of enqueuing. */
  find(query: JobQuery): QueueJob[] {
    return this.#rows(query, "*").map(fromRow);
  }

  ids(query: JobQuery & { readonly queue: string }): JobId[] {
    return this.#rows(query, "id, queue, enqueued_at").map(({ id }) => Number(id));
  }

  /** The jobs with this name, newest first. */
  named(queue: string, name: string): JobId[] {
    return this.#prepare("SELECT id FROM jobs WHERE queue = ? AND name = ? ORDER BY id DESC")
      .all(queue, name)
      .map(({ id }) => Number(id));
  }

  /** One look per queue and state, each in the order of its index: the first page of a million jobs reads a page. */
  #rows(query: JobQuery, columns: string): SqlRow[] {
    if (query.before !== undefined && query.queue === undefined)
      throw new UserError("jobs before a job: the queue is missing", { hint: "name the queue, too" });
    const queues = query.queue === undefined ? this.#queueNames() : [query.queue];
    const states = query.states ?? [null];
    const { where, values } = conditionOf(query);
    const limit = query.limit ?? EVERY_JOB;
    const order = query.isOldestFirst ? "ASC" : "DESC";
    const inOrder = query.isOldestFirst ? oldestFirst : newestFirst;
    const parts = queues.flatMap((queue) =>
      states.map((state) => {
        const ofState = state === null ? "" : " AND state = ?";
        const sql = `SELECT ${columns} FROM jobs WHERE queue = ?${ofState}${where} ORDER BY id ${order} LIMIT ?`;
        return this.#prepare(sql).all(queue, ...(state === null ? [] : [state]), ...values, limit);
      }),
    );
    if (parts.length <= 1) return parts[0] ?? [];
    return parts.flat().sort(inOrder).slice(0, limit);
  }

  #queueNames(): string[] {
    return this.#names.all().map((row) => text(row, "name"));
  }

  #prepare(sql: string): Statement {
    const known = this.#statements.get(sql);
    if (known !== undefined) return known;
    if (this.#statements.size >= MOST_STATEMENTS) this.#statements.clear();
    const statement = this.#sql.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }
}

interface Condition {
  readonly where: string;
  readonly values: readonly SqlValue[];
}

/** Lists go in as JSON, so that their length is no part of the statement. */
function conditionOf({ ids, names, states, text: part, before, isOldestFirst }: JobQuery): Condition {
  const conditions: Condition[] = [];
  const add = (where: string, ...values: SqlValue[]) => void conditions.push({ where, values });
  if (states?.some((state) => !JOB_WORDS.includes(state))) add("FALSE");
  if (before !== undefined) add(isOldestFirst ? "id > ?" : "id < ?", before);
  if (ids !== undefined) add("id IN (SELECT value FROM json_each(?))", JSON.stringify(ids));
  if (names !== undefined) add(...nameCondition(names));
  if (part !== undefined)
    add("(instr(lower(command), lower(?)) > 0 OR instr(lower(name), lower(?)) > 0)", part, part);
  return {
    where: conditions.map(({ where }) => ` AND ${where}`).join(""),
    values: conditions.flatMap(({ values }) => values),
  };
}

/** Exact names have an index. */
function nameCondition(names: readonly string[]): [string, string] {
  const list = JSON.stringify(names);
  if (!names.some((name) => /[*?[]/.test(name))) return ["name IN (SELECT value FROM json_each(?))", list];
  // SQLite writes "none of these" as [^abc].
  const globs = JSON.stringify(names.map((name) => name.replaceAll("[!", "[^")));
  return ["EXISTS (SELECT 1 FROM json_each(?) WHERE name GLOB value)", globs];
}

function newestFirst(a: SqlRow, b: SqlRow): number {
  if (a.queue === b.queue) return Number(b.id) - Number(a.id);
  return Number(b.enqueued_at) - Number(a.enqueued_at) || (text(a, "queue") < text(b, "queue") ? -1 : 1);
}

function oldestFirst(a: SqlRow, b: SqlRow): number {
  return newestFirst(b, a);
}
