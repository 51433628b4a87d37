// Numbers for jobs that come one by one. Whoever feeds a batch a second time sends the same commands again: what is known
// from before keeps its number, and is no new job.

import type { Job, JobId } from "../model/job.js";

export interface Numbering {
  /** What may come again, in the order in which it came. */
  readonly known: readonly Job[];
  /** The last number that was ever given. */
  readonly highest: number;
  /** Added to the number of a line, for its id. */
  readonly base: number;
}

export class Arrivals {
  /** By command: numbers that have not come again yet. */
  readonly #known = new Map<string, JobId[]>();
  readonly #base: number;
  #highest: number;

  constructor({ known, highest, base }: Numbering) {
    this.#base = base;
    this.#highest = highest;
    for (const { id, command } of known.toReversed()) {
      const ids = this.#known.get(command);
      if (ids) ids.push(id);
      else this.#known.set(command, [id]);
    }
  }

  /** `line`: where the command begins in what is read now. A number that `isTaken` is nobody's. */
  number(command: string, line: number, isTaken: (id: JobId) => boolean): JobId {
    const known = this.#known.get(command)?.pop();
    if (known !== undefined) return known;
    let number = Math.max(this.#base + line, this.#highest + 1);
    while (isTaken(number)) number++;
    this.#highest = number;
    return number;
  }
}
