// Removes earlier results of a job that are more than may stay (--max-old): the oldest, once newer ones are in place.

import { existsSync } from "node:fs";
import path from "node:path";
import { ENDINGS } from "../../plan/edit/file-moves.js";
import { parseRoot, seriesOf, surplusOf } from "../../plan/generations.js";
import { diskUse } from "./disk-use.js";
import { moveTo } from "./move-to.js";
import type { Results } from "./results.js";

export interface PrunedResults {
  /** How many earlier results of all jobs were removed. */
  readonly count: number;
  readonly bytes: number;
}

export class ResultPruner {
  readonly #results: Results;
  readonly #batch: string;
  readonly #most: number;
  #removed: PrunedResults = { count: 0, bytes: 0 };

  /** `most`: of each series of a job. */
  constructor(results: Results, batch: string, most: number) {
    this.#results = results;
    this.#batch = batch;
    this.#most = most;
  }

  get removed(): PrunedResults {
    return this.#removed;
  }

  /** `isNeeded`: these stay. Rejects when the disk refuses. */
  async prune(job: string, isNeeded: (name: string) => boolean): Promise<void> {
    const series = this.#results.seriesNear(job);
    const old = seriesOf(job).flatMap((name) => surplusOf(series, name, this.#most));
    for (const name of old) if (!isNeeded(name) && !this.#isBatch(name)) await this.#remove(name);
  }

  /** A single job may be called `x.old-1`: its results are in place. */
  #isBatch(name: string): boolean {
    return existsSync(path.join(this.#results.privateDir, `${name}.jsonl`));
  }

  /** In one step out of sight, so that a client that is killed leaves no half of a result. */
  async #remove(name: string): Promise<void> {
    const { series } = this.#results;
    const parts = ENDINGS.map((ending) => this.#results.pathOf(name + ending)).filter(existsSync);
    const numbered = parseRoot(name);
    if (numbered !== null) series.get(numbered.series)?.delete(numbered.number);
    if (parts.length === 0) return;
    const incoming = await this.#results.makeIncoming(this.#batch);
    try {
      for (const part of parts) moveTo(part, path.join(incoming.dir, path.basename(part)));
      const bytes = this.#removed.bytes + (await diskUse(incoming.dir));
      this.#removed = { count: this.#removed.count + 1, bytes };
    } finally {
      await incoming.remove();
    }
  }
}
