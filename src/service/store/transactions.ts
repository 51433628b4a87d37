// Gathers the writes of one turn of the event loop into one transaction, which costs one fsync.

import { asDiskRefusal } from "./disk-refusal.js";
import type { Sql } from "./load-sqlite.js";

interface Write {
  readonly run: () => unknown;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

export class Transactions {
  readonly #sql: Sql;
  /** Called when a change that was made is undone. */
  readonly #onUndo: () => void;
  #pending: Write[] = [];
  #scheduled: NodeJS.Immediate | null = null;
  #isInside = false;

  constructor(sql: Sql, onUndo: () => void) {
    this.#sql = sql;
    this.#onUndo = onUndo;
  }

  /** Resolves when the change is safe on the disk. If `change` throws, it alone is undone. A full disk rejects all of a turn. */
  write<T>(change: () => T): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#pending.push({ run: change, resolve: (result) => resolve(result as T), reject });
      this.#scheduled ??= setImmediate(() => this.flush());
    });
  }

  /** Writes what waits, too, in its order. Safe on the disk when it returns, unless it was called by a change. */
  writeNow<T>(change: () => T): T {
    if (this.#isInside) return this.#alone(change);
    let answer: { readonly result: T } | { readonly error: unknown } | undefined;
    this.#pending.push({
      run: change,
      resolve: (result) => {
        answer = { result: result as T };
      },
      reject: (error) => {
        answer = { error };
      },
    });
    this.flush();
    if (answer === undefined) throw new Error("a write was not answered");
    if ("error" in answer) throw answer.error;
    return answer.result;
  }

  /** Writes what waits. */
  flush(): void {
    if (this.#scheduled !== null) clearImmediate(this.#scheduled);
    this.#scheduled = null;
    const writes = this.#pending;
    this.#pending = [];
    if (writes.length === 0) return;
    this.#isInside = true;
    const answers: (() => void)[] = [];
    try {
      this.#sql.exec("BEGIN IMMEDIATE");
      for (const { run, resolve, reject } of writes) answers.push(this.#tryAlone(run, resolve, reject));
      this.#sql.exec("COMMIT");
    } catch (error) {
      this.#undoAll();
      const refusal = asDiskRefusal(error);
      for (const { reject } of writes) reject(refusal);
      return;
    } finally {
      this.#isInside = false;
    }
    for (const answer of answers) answer();
  }

  /** Returns how to answer after the commit. Throws if the whole transaction is lost. */
  #tryAlone(run: () => unknown, resolve: Write["resolve"], reject: Write["reject"]): () => void {
    try {
      const result = this.#alone(run);
      return () => resolve(result);
    } catch (error) {
      if (asDiskRefusal(error) !== error) throw error;
      return () => reject(error);
    }
  }

  #alone<T>(change: () => T): T {
    this.#sql.exec("SAVEPOINT change");
    try {
      const result = change();
      this.#sql.exec("RELEASE change");
      return result;
    } catch (error) {
      this.#onUndo();
      // A full disk may have ended the transaction, with its savepoints.
      if (asDiskRefusal(error) === error) this.#sql.exec("ROLLBACK TO change; RELEASE change");
      throw error;
    }
  }

  #undoAll(): void {
    this.#onUndo();
    try {
      this.#sql.exec("ROLLBACK");
    } catch {
      // SQLite has ended the transaction by itself.
    }
  }
}
