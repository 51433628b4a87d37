// For each kind of need in a queue: the first waiting job that may be given to the engine. Kept in memory, and looked up in an
// index for kinds that changed. So a choice does not read the jobs that wait behind.

import type { JobId, Requirement } from "../../model/job.js";
import { json, text } from "./job-row.js";
import type { Sql, Statement } from "./load-sqlite.js";
import { IS_READY } from "./schema.js";

export interface JobHead {
  readonly id: JobId;
  readonly kind: string;
  readonly priority: number;
  readonly need: Requirement;
}

interface QueueHeads {
  readonly byKind: Map<string, JobHead>;
  /** In the order in which jobs start. */
  readonly sorted: JobHead[];
  readonly changed: Set<string>;
}

export class JobHeads {
  readonly #queues = new Map<string, QueueHeads>();
  readonly #nextKind: Statement;
  readonly #first: Statement;
  readonly #firsts: Statement;

  constructor(sql: Sql) {
    this.#nextKind = sql.prepare(
      `SELECT kind FROM jobs INDEXED BY jobs_ready WHERE queue = ? AND kind > ? AND ${IS_READY} ORDER BY kind LIMIT 1`,
    );
    const ofKind = `FROM jobs INDEXED BY jobs_ready WHERE queue = ? AND kind = ? AND ${IS_READY} ORDER BY priority DESC, id`;
    this.#first = sql.prepare(`SELECT id, kind, priority, need ${ofKind} LIMIT 1`);
    this.#firsts = sql.prepare(`SELECT id ${ofKind} LIMIT ?`);
  }

  /** One for each kind, in the order in which they start. The list is valid until the next change. */
  of(queue: string): readonly JobHead[] {
    const heads = this.#queues.get(queue) ?? this.#load(queue);
    for (const kind of heads.changed) this.#refresh(queue, heads, kind);
    heads.changed.clear();
    return heads.sorted;
  }

  /** The first jobs of one kind. */
  firstOf(queue: string, kind: string, count: number): JobId[] {
    return this.#firsts.all(queue, kind, count).map(({ id }) => Number(id));
  }

  /** Jobs of this kind were added or have changed. */
  note(queue: string, kind: string): void {
    this.#queues.get(queue)?.changed.add(kind);
  }

  /** Changes were undone, or were too many to note. */
  forget(queue?: string): void {
    if (queue === undefined) this.#queues.clear();
    else this.#queues.delete(queue);
  }

  #load(queue: string): QueueHeads {
    const heads: QueueHeads = { byKind: new Map(), sorted: [], changed: new Set() };
    let row = this.#nextKind.get(queue, "");
    while (row !== undefined) {
      const kind = text(row, "kind");
      const head = this.#look(queue, kind);
      if (head !== null) heads.byKind.set(kind, head);
      row = this.#nextKind.get(queue, kind);
    }
    heads.sorted.push(...[...heads.byKind.values()].sort(inOrder));
    this.#queues.set(queue, heads);
    return heads;
  }

  #refresh(queue: string, { byKind, sorted }: QueueHeads, kind: string): void {
    const before = byKind.get(kind);
    const now = this.#look(queue, kind);
    if (before !== undefined) sorted.splice(placeOf(sorted, before), 1);
    if (now === null) byKind.delete(kind);
    else {
      byKind.set(kind, now);
      sorted.splice(placeOf(sorted, now), 0, now);
    }
  }

  #look(queue: string, kind: string): JobHead | null {
    const row = this.#first.get(queue, kind);
    if (row === undefined) return null;
    return {
      id: Number(row.id),
      kind,
      priority: Number(row.priority),
      need: json<Requirement>(row.need) as Requirement,
    };
  }
}

function inOrder(a: JobHead, b: JobHead): number {
  return b.priority - a.priority || a.id - b.id;
}

/** Where it is, or where it belongs. */
function placeOf(sorted: readonly JobHead[], head: JobHead): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const other = sorted[middle];
    if (other !== undefined && inOrder(other, head) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}
