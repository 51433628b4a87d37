// The names of this directory's batches, jobs and machines, for a shell to complete. A record that cannot be read has none.

import { wordOf } from "../../model/standing.js";
import type { Results } from "../../run/home/results.js";
import { type BatchHere, loadBatch, stemsHere } from "../find/batches-here.js";
import { drainableMachines } from "../machine/drain-machine.js";
import { numberOf } from "./choose-jobs.js";
import type { KnownWord } from "./known-machines.js";

export function knownBatches(results: Results): KnownWord[] {
  return stemsHere(results).map((word) => ({ word, about: "batch" }));
}

export function knownDrainable(results: Results): KnownWord[] {
  const machines = readableBatches(results).flatMap(drainableMachines);
  return [...new Set(machines)].map((word) => ({ word, about: "machine" }));
}

/** Batches and the names of their jobs. Numbers come only if one was begun: they would double the list. */
export function knownJobs(results: Results, start: string): KnownWord[] {
  if (/^\d+$/.test(start)) return knownNumbers(readableBatches(results));
  const stems = stemsHere(results).filter((stem) => stem.startsWith(start) || start.startsWith(stem));
  const batches = readableBatches(results, stems);
  return [
    ...knownBatches(results),
    ...batches.flatMap((here) => jobsOf(here).map(({ name: word, about }) => ({ word, about }))),
  ];
}

/** A number that two batches have does not say which job is meant. */
function knownNumbers(batches: readonly BatchHere[]): KnownWord[] {
  const all = batches.flatMap((here) =>
    jobsOf(here).flatMap(({ number, about }) => (number === null ? [] : [{ word: `${number}`, about }])),
  );
  const counts = new Map<string, number>();
  for (const { word } of all) counts.set(word, (counts.get(word) ?? 0) + 1);
  return all.filter(({ word }) => counts.get(word) === 1);
}

interface KnownJob {
  readonly name: string;
  readonly number: number | null;
  readonly about: string;
}

function jobsOf({ stem, jobs, state }: BatchHere): KnownJob[] {
  return jobs.map((job) => {
    const tracked = state.jobs.get(job.id);
    const word = tracked === undefined ? "job" : wordOf(tracked);
    return { name: job.name, number: numberOf(stem, job), about: `${word}: ${job.command}` };
  });
}

function readableBatches(results: Results, stems: readonly string[] = stemsHere(results)): BatchHere[] {
  return stems.flatMap((stem) => {
    try {
      return loadBatch(results, stem) ?? [];
    } catch {
      return [];
    }
  });
}
