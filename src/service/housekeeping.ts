// Keeps the service small: jobs beyond the limits of the history leave with their results, and so does what no job needs.

import { rm } from "node:fs/promises";
import path from "node:path";
import type { HistoryLimits, PrunedJob } from "./store/job-history.js";
import type { ServiceDatabase } from "./store/open-database.js";
import { pruneTrees } from "./trees/prune-trees.js";
import { openTreeStore } from "./trees/tree-store.js";

const EVERY_MS = 60_000;

export class Housekeeping {
  readonly #db: ServiceDatabase;
  readonly #dir: string;
  readonly #limits: HistoryLimits;
  readonly #onNote: (message: string) => void;
  readonly #timer: NodeJS.Timeout;
  #last: Promise<void>;
  #isClosed = false;

  constructor(
    db: ServiceDatabase,
    dir: string,
    { limits, onNote }: { limits: HistoryLimits; onNote: (message: string) => void },
  ) {
    this.#db = db;
    this.#dir = dir;
    this.#limits = limits;
    this.#onNote = onNote;
    this.#last = this.#tidy();
    this.#timer = setInterval(() => {
      this.#last = this.#last.then(() => this.#tidy());
    }, EVERY_MS);
    this.#timer.unref();
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#isClosed = true;
    await this.#last;
  }

  /** Never rejects: what cannot be removed now is tried again. */
  async #tidy(): Promise<void> {
    try {
      // A history of a million jobs takes minutes, and the service may be asked to end meanwhile.
      while (!this.#isClosed) {
        const now = Date.now();
        const pruned = await this.#db.transactions.write(() => this.#db.history.prune(this.#limits, now));
        if (pruned.length === 0) break;
        for (const job of pruned) await this.#removeResults(job);
      }
      if (this.#isClosed) return;
      const now = Date.now();
      await this.#db.transactions.write(() => this.#db.answers.prune(now));
      this.#db.secrets.sweep(this.#db.history.environmentsInUse(), now);
      await pruneTrees(openTreeStore(path.join(this.#dir, "trees")), this.#db.history.treesInUse(), now);
    } catch (error) {
      this.#onNote(`tidying up: ${(error as Error).message}`);
    }
  }

  /** Results in a directory of the user stay. */
  async #removeResults({ results }: PrunedJob): Promise<void> {
    const own = path.join(this.#dir, "results") + path.sep;
    if (!results.startsWith(own)) return;
    for (const ending of ["", ".out", ".err"]) await rm(results + ending, { recursive: true, force: true });
  }
}
