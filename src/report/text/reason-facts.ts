// What reasons are made of: a subject and words, and what is known besides the shortages.

import type { Capacity } from "../../model/machine.js";
import { shortBatchName } from "./card-name.js";
import { printable } from "./printable.js";

export interface Reason {
  /** `card 1`, `cards 0-3`, `memory`; "": the whole machine. */
  readonly subject: string;
  readonly words: string;
}

/** What is known besides the shortages. */
export interface ReasonFacts {
  /** The batch of the job: its other jobs are called by their labels alone. */
  readonly batch: string;
  /** Null: not measured, as for reasons that a machine reports by itself. */
  readonly capacity: Capacity | null;
  /** The machine file. */
  readonly file: string | null;
  /** The label of a job of the batch, from the word by which a machine or the allocator names it. */
  readonly labelOf: (word: string) => string;
  /** The shortages are those of the empty machine. */
  readonly isNever: boolean;
}

/** `prep.sh`, or `carol's prep.sh`. */
export function holderName({ owner, batch }: { owner: string; batch: string }): string {
  const name = shortBatchName(batch);
  return owner === "" ? name : `${printable(owner)}'s ${name}`;
}
