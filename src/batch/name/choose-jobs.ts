// Finds the jobs that words name, the same for every command: number, range, name, glob, batch, state. Pure.

import { UserError } from "../../errors.js";
import type { Job } from "../../model/job.js";
import { type JobWord, wordOf } from "../../model/standing.js";
import { quoteIfNeeded } from "../../transport/quote.js";
import { type BatchHere, findBatch, hintAtNames } from "../find/batches-here.js";
import { type JobTerm, parseJobTerms } from "./job-terms.js";

export interface JobChoice {
  /** As typed: `7`, `3-7`, `train.sh.7`, `'train.sh.*'`, `train.sh`. Empty: all jobs. */
  readonly words: readonly string[];
  /** Only jobs in one of these states; empty: in any. */
  readonly states: readonly JobWord[];
}

type Batch = Pick<BatchHere, "stem" | "batch" | "script" | "dir" | "jobs" | "state">;

export interface ChosenJobs<B> {
  readonly here: B;
  /** In the order of the batch. */
  readonly jobs: readonly Job[];
  /** The batch itself was named, not single jobs. */
  readonly isWhole: boolean;
}

/**
 * Each batch that has some of the jobs. Throws UserError for a word that matches none, or a number that several batches
 * have. `isLikely`: if it is true for only one of these batches, that one is meant.
 */
export function chooseJobs<B extends Batch>(
  batches: readonly B[],
  { words, states }: JobChoice,
  isLikely: (here: B) => boolean = () => true,
): ChosenJobs<B>[] {
  const named = batchesAmong(batches, words);
  const terms = parseJobTerms(words.filter((word) => !named.has(word)));
  const scope = named.size === 0 ? batches : [...new Set(named.values())];
  const chosen = new Set(
    terms.length === 0
      ? scope.flatMap(({ jobs }) => jobs)
      : terms.flatMap((term) => find(scope, term, isLikely)),
  );
  const isWhole = terms.length === 0 && named.size > 0 && states.length === 0;
  const found = scope
    .map((here) => ({
      here,
      jobs: here.jobs.filter((job) => chosen.has(job) && isIn(here, job, states)),
      isWhole,
    }))
    .filter(({ jobs }) => jobs.length > 0);
  if (found.length > 0) return found;
  const which = words.length === 0 ? "no job here" : `no job of ${words.join(" ")}`;
  const state = states.length === 0 ? "known" : states.join(" or ");
  throw new UserError(`${which} is ${state}`, { hint: "sshoal status" });
}

/** A job's own name is never mistaken for its batch's. */
function batchesAmong<B extends Batch>(batches: readonly B[], words: readonly string[]): Map<string, B> {
  const names = new Set(batches.flatMap(({ jobs }) => jobs.map(({ name }) => name)));
  const named = words
    .filter((word) => !names.has(word))
    .map((word) => [word, findBatch(batches, word)] as const);
  return new Map(named.flatMap(([word, batch]) => (batch === null ? [] : [[word, batch] as const])));
}

function find<B extends Batch>(batches: readonly B[], term: JobTerm, isLikely: (here: B) => boolean): Job[] {
  const named = batches.flatMap(({ jobs }) => jobs.filter(({ name }) => name === term.word));
  if (named.length > 0) return named;
  const hits = batches
    .map((here) => ({ here, jobs: here.jobs.filter((job) => isMeant(term, here.stem, job)) }))
    .filter(({ jobs }) => jobs.length > 0);
  if (hits.length === 0) throw unknownError(batches, term);
  if (hits.length === 1 || term.kind === "glob") return hits.flatMap(({ jobs }) => jobs);
  const [likely, ...others] = hits.filter(({ here }) => isLikely(here));
  if (likely !== undefined && others.length === 0) return likely.jobs;
  const [one, other] = hits.map(({ here }) => `${quoteIfNeeded(here.stem)} ${term.word}`);
  throw new UserError(`${hits.length} batches here have jobs that match ${term.word}: which one?`, {
    hint: `name the batch, too: ${one}, or ${other}`,
  });
}

function isMeant(term: JobTerm, stem: string, job: Job): boolean {
  const short = shortName(stem, job);
  switch (term.kind) {
    case "range": {
      const number = numberOf(stem, job);
      return number !== null && number >= term.first && number <= term.last;
    }
    case "glob":
      return term.pattern.test(job.name) || term.pattern.test(short);
    case "name":
      return short === term.word;
    default:
      return term satisfies never;
  }
}

function shortName(stem: string, { name }: Job): string {
  return name.startsWith(`${stem}.`) ? name.slice(stem.length + 1) : name;
}

/** Null: it has none, as a command of execute_remote. */
export function numberOf(stem: string, job: Job): number | null {
  const short = shortName(stem, job);
  return /^\d+$/.test(short) ? Number(short) : job.line;
}

function unknownError(batches: readonly Batch[], term: JobTerm): UserError {
  const message = `there is no job ${term.word} here`;
  const named = batches.flatMap(({ stem, jobs }) =>
    jobs.map((job) => ({ name: job.name, number: numberOf(stem, job) })),
  );
  if (term.kind !== "range") {
    const names = named.map(({ name }) => name);
    return new UserError(message, { hint: hintAtNames(term.word, names) });
  }
  const distance = (number: number) => Math.max(term.first - number, number - term.last);
  const near = named
    .flatMap(({ name, number }) => (number === null ? [] : [{ name, distance: distance(number) }]))
    .sort((one, other) => one.distance - other.distance)
    .slice(0, 3)
    .map(({ name }) => name);
  return new UserError(message, { hint: `did you mean ${near.join(" or ")}?` });
}

function isIn({ state }: Batch, { id }: Job, states: readonly JobWord[]): boolean {
  const tracked = state.jobs.get(id);
  return states.length === 0 || (tracked !== undefined && states.includes(wordOf(tracked)));
}
