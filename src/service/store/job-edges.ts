// Which jobs come after which, for releasing jobs when another one ends.

import type { Dependency, JobId } from "../../model/job.js";
import type { Sql, Statement } from "./load-sqlite.js";

/** `job` comes after another one. */
export interface Dependent {
  readonly job: JobId;
  readonly when: Dependency["when"];
  readonly isMet: boolean;
}

export class JobEdges {
  readonly #add: Statement;
  readonly #back: Statement;
  readonly #met: Statement;
  readonly #unmet: Statement;

  constructor(sql: Sql) {
    this.#add = sql.prepare("INSERT INTO edges VALUES (?, ?, ?, ?, ?)");
    this.#back = sql.prepare(
      "SELECT job, condition, is_met FROM edges WHERE queue = ? AND comes_after = ? ORDER BY job",
    );
    this.#met = sql.prepare(
      "UPDATE edges SET is_met = ? WHERE queue = ? AND job = ? AND comes_after = ? AND condition = ?",
    );
    this.#unmet = sql.prepare(
      "SELECT count(*) AS jobs FROM edges WHERE queue = ? AND job = ? AND is_met = 0",
    );
  }

  /** The jobs that come after this one. */
  dependentsOf(queue: string, id: JobId): Dependent[] {
    const rows = this.#back.all(queue, id);
    return rows.map(({ job, condition, is_met }) => ({
      job: Number(job),
      when: condition as Dependency["when"],
      isMet: is_met === 1,
    }));
  }

  add(queue: string, id: JobId, { job, when }: Dependency, isMet: boolean): void {
    this.#add.run(queue, id, job, when, Number(isMet));
  }

  /** Returns how many of its dependencies are not met. The row of the job keeps that number, so use StoredJobs.setMet. */
  setMet(queue: string, id: JobId, { job, when }: Dependency, isMet: boolean): number {
    this.#met.run(Number(isMet), queue, id, job, when);
    return Number(this.#unmet.get(queue, id)?.jobs);
  }
}
