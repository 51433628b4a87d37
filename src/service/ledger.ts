// Writes to the record of the service, and tells watchers what was written. What machines did must get into the record: if the
// disk refuses it, it is written as soon as there is room, in its order.

import type { QueueEvent } from "../model/queue-event.js";
import { DiskRefusal } from "./store/disk-refusal.js";
import type { ServiceDatabase } from "./store/open-database.js";

/** Adds an event to the same transaction. */
export type Tell = (event: Omit<QueueEvent, "seq" | "at">) => void;
type Change<T> = (tell: Tell) => T;

const AGAIN_MS = 1000;

export class Ledger {
  readonly #db: ServiceDatabase;
  readonly #listeners = new Set<(event: QueueEvent) => void>();
  readonly #onBug: (error: unknown) => void;
  #backlog: Change<void>[] = [];
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;
  /** Why the disk takes nothing; null: it does. */
  refuses: string | null = null;

  constructor(db: ServiceDatabase, onBug: (error: unknown) => void) {
    this.#db = db;
    this.#onBug = onBug;
  }

  /** Resolves when it is safe on the disk; rejects with DiskRefusal, or with what `change` throws. */
  async write<T>(change: Change<T>): Promise<T> {
    const events: QueueEvent[] = [];
    const tell: Tell = (event) => void events.push(this.#db.events.add({ ...event, at: Date.now() }));
    try {
      const result = await this.#db.transactions.write(() => change(tell));
      this.refuses = null;
      for (const event of events) for (const listener of this.#listeners) listener(event);
      return result;
    } catch (error) {
      if (error instanceof DiskRefusal) this.refuses = error.reason;
      throw error;
    }
  }

  /** Never lost while this process lives. What machines do after the end is for the next service, which reads it there. */
  record(change: Change<void>): void {
    if (this.#isClosed) return;
    if (this.#backlog.length > 0) this.#backlog.push(change);
    else this.#try(change);
  }

  onEvent(listener: (event: QueueEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Calls it once all of this is recorded, unless the service has ended by then. */
  afterwards(call: () => void): void {
    const callIfOpen = () => {
      if (!this.#isClosed) call();
    };
    this.record(() => void setImmediate(callIfOpen));
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  #try(change: Change<void>): void {
    this.write(change).catch((error: unknown) => {
      if (!(error instanceof DiskRefusal)) return this.#onBug(error);
      this.#backlog.push(change);
      this.#timer ??= setTimeout(() => this.#tryAgain(), AGAIN_MS);
    });
  }

  #tryAgain(): void {
    this.#timer = undefined;
    const backlog = this.#backlog;
    this.#backlog = [];
    for (const change of backlog) this.#try(change);
  }
}
