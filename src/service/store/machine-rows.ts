// What the service knows of the machines of queues, for the time before it has reached them.

import type { Capacity } from "../../model/machine.js";
import { json, text } from "./job-row.js";
import type { Sql, Statement } from "./load-sqlite.js";

export interface KnownMachine {
  readonly queue: string;
  readonly machine: string;
  /** It gets no jobs. */
  readonly isDraining: boolean;
  /** As last measured. */
  readonly capacity: Capacity | null;
  readonly measuredAt: number | null;
}

export class MachineRows {
  readonly #of: Statement;
  readonly #measured: Statement;
  readonly #drain: Statement;
  readonly #remove: Statement;

  constructor(sql: Sql) {
    this.#of = sql.prepare("SELECT * FROM machines WHERE queue = ? ORDER BY machine");
    this.#measured = sql.prepare(
      `INSERT INTO machines (queue, machine, capacity, measured_at) VALUES (?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET capacity = excluded.capacity, measured_at = excluded.measured_at`,
    );
    this.#drain = sql.prepare(
      `INSERT INTO machines (queue, machine, is_draining) VALUES (?, ?, ?)
       ON CONFLICT DO UPDATE SET is_draining = excluded.is_draining`,
    );
    this.#remove = sql.prepare("DELETE FROM machines WHERE queue = ? AND machine = ?");
  }

  of(queue: string): KnownMachine[] {
    return this.#of.all(queue).map((row) => ({
      queue,
      machine: text(row, "machine"),
      isDraining: row.is_draining === 1,
      capacity: json<Capacity>(row.capacity),
      measuredAt: row.measured_at as number | null,
    }));
  }

  measured(queue: string, machine: string, capacity: Capacity, now: number): void {
    this.#measured.run(queue, machine, JSON.stringify(capacity), now);
  }

  setDraining(queue: string, machine: string, isDraining: boolean): void {
    this.#drain.run(queue, machine, Number(isDraining));
  }

  remove(queue: string, machine: string): void {
    this.#remove.run(queue, machine);
  }
}
