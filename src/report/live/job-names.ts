// Describes jobs by what differs between them: their labels, and the parameters or words of their commands that vary.

import type { BatchState } from "../../model/batch-state.js";
import { type Job, shortCommand } from "../../model/job.js";
import { jobLabel } from "../../model/job-label.js";
import { printable, printableStart } from "../text/printable.js";
import { textWidth } from "../text/width.js";

export interface JobNames {
  readonly labelWidth: number;
  readonly whatWidth: number;
  /** The width with the parameters that all jobs share. */
  readonly wideWidth: number;
  /** `lr 3e-4 bs 256`; safe to print. `isWide`: includes parameters that do not vary. */
  readonly whatOf: (job: Job, isWide?: boolean) => string;
}

/** Enough jobs to see what varies. */
const SAMPLE = 1000;

const known = new WeakMap<BatchState["jobs"], { size: number; names: JobNames }>();

/** Computed again only if jobs were added. */
export function jobNames(jobs: BatchState["jobs"]): JobNames {
  const before = known.get(jobs);
  if (before?.size === jobs.size) return before.names;
  const all = [...jobs.values()].map(({ job }) => job);
  const names = namesOf(all);
  known.set(jobs, { size: jobs.size, names });
  return names;
}

function namesOf(all: readonly Job[]): JobNames {
  const sample = all.slice(0, SAMPLE);
  const varying = varyingParameters(sample);
  const common = commonWords(sample.map(wordsOf));
  const whatOf = (job: Job, isWide = false) =>
    printableStart(
      job.parameters === undefined
        ? commandText(job, common)
        : parametersText(job.parameters, isWide ? null : varying),
    );
  const widest = (texts: readonly string[]) =>
    texts.reduce((most, text) => Math.max(most, textWidth(text)), 0);
  return {
    labelWidth: widest(all.map((job) => printable(jobLabel(job)))),
    whatWidth: widest(sample.map((job) => whatOf(job))),
    wideWidth: widest(sample.map((job) => whatOf(job, true))),
    whatOf,
  };
}

function varyingParameters(jobs: readonly Job[]): ReadonlySet<string> {
  const values = new Map<string, Set<string | undefined>>();
  for (const { parameters = {} } of jobs)
    for (const name of Object.keys(parameters)) values.set(name, new Set());
  for (const [name, seen] of values) for (const { parameters } of jobs) seen.add(parameters?.[name]);
  return new Set([...values].filter(([, seen]) => seen.size > 1).map(([name]) => name));
}

/** `shown` is null for all parameters. If none varies, all are shown as well. */
function parametersText(
  parameters: Readonly<Record<string, string>>,
  shown: ReadonlySet<string> | null,
): string {
  const all = Object.entries(parameters);
  const some = shown === null ? all : all.filter(([name]) => shown.has(name));
  return (some.length === 0 ? all : some).map(([name, value]) => `${name} ${value}`).join(" ");
}

function wordsOf(job: Job): string[] {
  return shortCommand(job).trim().split(/\s+/);
}

interface Common {
  readonly first: number;
  readonly last: number;
}

/** How many words all commands share at their beginning and at their end. */
function commonWords(commands: readonly (readonly string[])[]): Common {
  const [one = [], ...others] = commands;
  if (others.length === 0) return { first: 0, last: 0 };
  const shortest = Math.min(...commands.map(({ length }) => length));
  const isCommon = (at: number) => others.every((words) => words.at(at) === one.at(at));
  let first = 0;
  while (first < shortest && isCommon(first)) first++;
  let last = 0;
  while (last < shortest - first && isCommon(-1 - last)) last++;
  // A value without its option means nothing.
  if (one[first - 1]?.startsWith("-")) first--;
  return { first, last };
}

function commandText(job: Job, { first, last }: Common): string {
  const words = wordsOf(job);
  const own = words.slice(first, words.length - last);
  return (own.length === 0 ? words : own).join(" ");
}
