// The hidden command that completion scripts call: prints the names that begin with what was typed, each with a tab and what it is. It
// asks nothing but this disk, and never complains: a shell shows no error while a person types.

import { knownBatches, knownDrainable, knownJobs } from "../../batch/name/known-jobs.js";
import { type KnownWord, knownMachines } from "../../batch/name/known-machines.js";
import { ExitCode } from "../../errors.js";
import { readEntries } from "../../input/config/config-entries.js";
import type { WordKind } from "../../model/word-kind.js";
import { printable } from "../../report/text/printable.js";
import { Results } from "../../run/home/results.js";
import type { WordsOptions } from "../options/completion-options.js";
import { loadConfig } from "../options/config/load-config.js";
import { readSurroundings } from "../read-surroundings.js";
import { knownQueuedJobs, knownQueues } from "./queue/known-queues.js";

export async function completeWords({ kind, start }: WordsOptions): Promise<ExitCode> {
  try {
    const words = await wordsOf(kind, start);
    const known = words.filter(({ word }) => word.startsWith(start) && isTypable(word));
    const lines = new Map(known.map(({ word, about }) => [word, `${word}\t${shortened(about)}\n`]));
    process.stdout.write([...lines.values()].join(""));
  } catch {
    // No names then.
  }
  return ExitCode.Success;
}

async function wordsOf(kind: WordKind, start: string): Promise<KnownWord[]> {
  const surroundings = readSurroundings();
  const results = new Results(surroundings.cwd);
  switch (kind) {
    case "machines": {
      const groups = await knownGroups();
      return machinesInList(start, (last) => [...groups, ...knownMachines(surroundings, last)]);
    }
    case "drainable":
      return [...(await knownGroups()), ...knownDrainable(results)];
    case "batches":
      return knownBatches(results);
    case "jobs":
      return [...knownJobs(results, start), ...(await knownQueuedJobs(start))];
    case "queues":
      return knownQueues();
    default:
      return kind satisfies never;
  }
}

/** Also of files that have mistakes elsewhere. */
async function knownGroups(): Promise<KnownWord[]> {
  const { files } = await loadConfig();
  const names = files.flatMap(({ root }) => (root === null ? [] : readEntries(root, new Set(), []).groups));
  return names.map(({ name }) => ({ word: `@${name}`, about: "group" }));
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
