// The hidden command that completion scripts call: prints the names that begin with what was typed, each with a tab and what it is. It
// asks nothing but this disk, and never complains: a shell shows no error while a person types.

import { knownBatches, knownDrainable, knownJobs } from "../../batch/known-jobs.js";
import { type KnownWord, knownMachines } from "../../batch/known-machines.js";
import { ExitCode } from "../../errors.js";
import type { WordKind } from "../../model/word-kind.js";
import { printable } from "../../report/text/printable.js";
import { Results } from "../../run/home/results.js";
import type { WordsOptions } from "../options/completion-options.js";
import { readSurroundings } from "../read-surroundings.js";

export function completeWords({ kind, start }: WordsOptions): ExitCode {
  try {
    const known = wordsOf(kind, start).filter(({ word }) => word.startsWith(start) && isTypable(word));
    const lines = new Map(known.map(({ word, about }) => [word, `${word}\t${shortened(about)}\n`]));
    process.stdout.write([...lines.values()].join(""));
  } catch {
    // No names then.
  }
  return ExitCode.Success;
}

function wordsOf(kind: WordKind, start: string): KnownWord[] {
  const surroundings = readSurroundings();
  const results = new Results(surroundings.cwd);
  switch (kind) {
    case "machines":
      return machinesInList(start, (last) => knownMachines(surroundings, last));
    case "drainable":
      return knownDrainable(results);
    case "batches":
      return knownBatches(results);
    case "jobs":
      return knownJobs(results, start);
    default:
      return kind satisfies never;
  }
}

/** `gpu1,gp`: the last of a list. */
function machinesInList(start: string, find: (last: string) => KnownWord[]): KnownWord[] {
  const before = start.slice(0, start.lastIndexOf(",") + 1);
  const words = find(start.slice(before.length));
  return words.map(({ word, about }) => ({ word: before + word, about }));
}

/** One with control characters cannot be shown, and one with a dash in front would be an option. */
function isTypable(word: string): boolean {
  return !/^$|^-|\t/.test(word) && printable(word) === word;
}

const ABOUT_LENGTH = 60;

function shortened(about: string): string {
  const line = printable(about.slice(0, ABOUT_LENGTH + 1)).replaceAll("\t", " ");
  return line.length > ABOUT_LENGTH ? `${line.slice(0, ABOUT_LENGTH - 1)}…` : line;
}
