// The queues of the service, each with its runner, and what waits for the ends of their jobs.

import { setTimeout as sleep } from "node:timers/promises";
import { UserError } from "../errors.js";
import type { JobId } from "../model/job.js";
import type { QueueJob } from "../model/queue.js";
import { JobNotices } from "./jobs/job-notices.js";
import type { Ledger } from "./ledger.js";
import type { House } from "./queue/generation-order.js";
import { queueBooks } from "./queue/queue-books.js";
import { QueueRunner } from "./queue/queue-runner.js";
import type { ServiceDatabase } from "./store/open-database.js";

export interface RunningQueue {
  readonly runner: QueueRunner;
  /** Why nothing of the queue begins; null: nothing prevents it. */
  readonly obstacle: () => string | null;
}

export interface ServiceParts<H extends House = House> {
  readonly db: ServiceDatabase;
  readonly ledger: Ledger;
  readonly house: H;
}

const MOST_CLOSING_MS = 10_000;

export class RunningQueues {
  readonly #parts: ServiceParts;
  readonly #queues = new Map<string, RunningQueue>();
  /** Those that are being deleted. They are known until their last job is over. */
  readonly #ending = new Set<string>();
  /** Called when a job has ended or waits again, by QUEUE/ID. */
  readonly #awaited = new Map<string, Set<() => void>>();

  constructor(parts: ServiceParts) {
    this.#parts = parts;
    const notices = new JobNotices(parts.db, parts.ledger, parts.house);
    parts.ledger.onEvent((event) => notices.note(event));
  }

  /** Takes up what an earlier service left of the queue. */
  async begin(name: string): Promise<void> {
    const books = queueBooks({ ...this.#parts, name, onSettled: (job) => this.#noteSettled(job) });
    const runner: QueueRunner = new QueueRunner(this.#parts.house, books);
    this.#queues.set(name, { runner, obstacle: books.obstacle });
    await runner.resume();
  }

  #noteSettled(job: QueueJob): void {
    const word = `${job.queue}/${job.id}`;
    for (const resolve of this.#awaited.get(word) ?? []) resolve();
    this.#awaited.delete(word);
    this.find(job.queue)?.runner.wake();
  }

  /** Resolves when the job has ended, or waits again. */
  untilSettled(queue: string, id: JobId): Promise<void> {
    const word = `${queue}/${id}`;
    return new Promise((resolve) => {
      const waiting = this.#awaited.get(word) ?? new Set();
      waiting.add(resolve);
      this.#awaited.set(word, waiting);
    });
  }

  find(name: string): RunningQueue | undefined {
    return this.#queues.get(name);
  }

  /** Throws UserError if it is being deleted. */
  named(name: string): RunningQueue {
    const running = this.find(name);
    if (running === undefined || this.isEnding(name))
      throw new UserError(`the queue ${name} is being deleted`, { hint: "sshoal queue list" });
    return running;
  }

  /** It gets no more jobs. */
  isEnding(name: string): boolean {
    return this.#ending.has(name);
  }

  /** From now on it takes no jobs, and no commands for its jobs. */
  beginEnd(name: string): void {
    this.named(name);
    this.#ending.add(name);
  }

  /** It goes on as before. */
  undoEnd(name: string): void {
    this.#ending.delete(name);
    this.find(name)?.runner.undoRetire();
  }

  /** Resolves when all of its generations have ended. Throws UserError if the service ends before. */
  async end(name: string): Promise<void> {
    const isOver = (await this.find(name)?.runner.retire()) ?? true;
    if (isOver) return;
    throw new UserError(`the service ends, and the queue ${name} is not deleted yet`, {
      hint: `sshoal serve, then sshoal queue delete ${name} --stop`,
    });
  }

  /** The record does not have it any more. */
  forget(name: string): void {
    this.#queues.delete(name);
    this.#ending.delete(name);
  }

  async close(): Promise<void> {
    const closing = [...this.#queues.values()].map(({ runner }) => runner.close());
    // A machine that does not let go is left as by a kill: the next service goes on from the journals.
    const patience = new AbortController();
    const enough = sleep(MOST_CLOSING_MS, null, { signal: patience.signal }).catch(() => {});
    await Promise.race([Promise.all(closing), enough]);
    patience.abort();
  }
}
