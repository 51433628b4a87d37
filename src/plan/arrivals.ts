// Assigns ids to jobs that arrive one by one. A user who feeds a batch a second time sends the same commands again: a
// command that is already known keeps its id and is no new job.

import type { Job, JobId } from "../model/job.js";

export interface Numbering {
  /** Jobs whose commands may arrive again, in their first order. */
  readonly known: readonly Job[];
  /** The highest id given so far. */
  readonly highest: number;
  /** Added to a line number to make an id. */
  readonly base: number;
}

export class Arrivals {
  /** Ids whose commands have not arrived again yet, by command. */
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

  /** `line`: where the command begins in the current input. A new job never gets an id for which `isTaken` is true. */
  number(command: string, line: number, isTaken: (id: JobId) => boolean): JobId {
    const known = this.#known.get(command)?.pop();
    if (known !== undefined) return known;
    let number = Math.max(this.#base + line, this.#highest + 1);
    while (isTaken(number)) number++;
    this.#highest = number;
    return number;
  }
}
