// How tools name jobs and batches, and parts of long answers: the same in every tool.

import { JOB_WORDS } from "../../model/standing.js";
import { choice, type Field, list, whole, word } from "../call/arguments.js";

const MOST_JOBS = 1000;

export const BATCH = word(
  'A batch of the directory: its script or its name, as status prints it; or jobs of a queue: "train/", "train/3-7" [the only batch].',
);

export function jobsField(otherwise: string): Field<readonly string[]> {
  return list(
    `Jobs: numbers ("7"), ranges ("3-7"), names, globs, or a batch ("jobs.sh"). Of a queue: "train/7", "train/3-7", or all: "train/" [${otherwise}].`,
    word("Jobs, as one word."),
    MOST_JOBS,
  );
}

/** Rows of jobs in one of these. */
export const STATES = list(
  "Only jobs in one of these states [all].",
  choice("A state.", JOB_WORDS),
  JOB_WORDS.length,
);

const MOST_ROWS = 500;
const MOST_OFFSET = 1e9;

export function limitField(usual: number): Field<number> {
  return whole(`At most so many rows [${usual}]. Fewer come if they would be too long.`, 1, MOST_ROWS);
}

export const OFFSET = whole("Skip so many rows: nextOffset of the last answer [0].", 0, MOST_OFFSET);

export const FIELDS = list(
  "Only these fields of each row, to make the answer shorter [all].",
  word("The name of a field."),
  50,
);

/** `--state` of the command line. */
export function stateWords(states: readonly string[] = []): string[] {
  return states.flatMap((state) => ["--state", state]);
}

/** Words that are no options. */
export function plainWords(words: readonly string[] = []): string[] {
  return words.length === 0 ? [] : ["--", ...words];
}
