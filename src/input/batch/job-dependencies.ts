// Finds the jobs that `#@ --after` lines name. Reports unknown names, and jobs that wait for each other.

import type { Problem } from "../../errors.js";
import type { AskedDependency } from "../../model/dependency.js";
import { findCircle, type Waits } from "../../model/dependency-circle.js";
import type { Dependency, Job, JobId } from "../../model/job.js";
import { jobLabel } from "../../model/job-label.js";
import { suggest } from "../suggest.js";

export interface AskingJob {
  readonly job: Job;
  readonly asked: readonly AskedDependency[];
}

export interface FoundDependencies {
  readonly dependsOn: ReadonlyMap<JobId, readonly Dependency[]>;
  readonly problems: readonly Problem[];
}

export function findDependencies(all: readonly AskingJob[]): FoundDependencies {
  const asking = all.filter(({ asked }) => asked.length > 0);
  if (asking.length === 0) return { dependsOn: new Map(), problems: [] };
  const known = jobsByWord(all.map(({ job }) => job));
  const problems: Problem[] = [];
  const dependsOn = new Map(
    asking.map(({ job, asked }) => [job.id, distinct(asked.flatMap((each) => find(each, known, problems)))]),
  );
  return { dependsOn, problems: [...problems, ...findCycles(dependsOn, all)] };
}

/** "a, b" is "a,b". */
export function splitJobWords(texts: readonly string[]): string[] {
  return texts.flatMap((text) => text.split(",")).map((word) => word.trim());
}

/** A name takes precedence over a number. Several jobs may begin in one line: its number means the first. */
function jobsByWord(jobs: readonly Job[]): Map<string, Job> {
  const known = new Map<string, Job>();
  for (const job of jobs) known.set(jobLabel(job), job);
  for (const job of jobs) if (job.line !== null && !known.has(`${job.line}`)) known.set(`${job.line}`, job);
  return known;
}

function find(
  { when, words, where }: AskedDependency,
  known: ReadonlyMap<string, Job>,
  problems: Problem[],
): Dependency[] {
  return words.flatMap((word) => {
    const job = known.get(word);
    if (job !== undefined) return [{ job: job.id, when }];
    problems.push({ where, ...unknownJob(word, known.keys()) });
    return [];
  });
}

function unknownJob(word: string, known: Iterable<string>): Omit<Problem, "where"> {
  if (word === "") return { message: "a name is missing", hint: "write names with one comma between them" };
  const [nearest] = isNumber(word) ? byDistance(Number(word), known) : suggest(word, known);
  const hint =
    nearest === undefined ? "name a job by its #@ --name, or by its line" : `did you mean ${nearest}?`;
  return { message: `there is no job ${word}`, hint };
}

function isNumber(word: string): boolean {
  return /^\d+$/.test(word);
}

function byDistance(line: number, known: Iterable<string>): string[] {
  const distance = (word: string) => Math.abs(Number(word) - line);
  return [...known].filter(isNumber).sort((one, other) => distance(one) - distance(other));
}

function distinct(dependencies: readonly Dependency[]): Dependency[] {
  return [...new Map(dependencies.map((each) => [`${each.job} ${each.when}`, each])).values()];
}

/** One problem per cycle. */
function findCycles(
  dependsOn: ReadonlyMap<JobId, readonly Dependency[]>,
  all: readonly AskingJob[],
): Problem[] {
  const waits: Waits = new Map([...dependsOn].map(([id, each]) => [id, new Set(each.map(({ job }) => job))]));
  const jobs = new Map(all.map((each) => [each.job.id, each]));
  const problems: Problem[] = [];
  for (;;) {
    const circle = findCircle(waits);
    if (circle === null) return problems;
    problems.push(cycleProblem(circle.flatMap((id) => jobs.get(id) ?? [])));
    for (const id of circle) waits.delete(id);
  }
}

function cycleProblem(cycle: readonly AskingJob[]): Problem {
  const where = ({ asked }: AskingJob) => asked[0]?.where ?? "";
  const [first] = cycle as [AskingJob];
  const hint = "remove one of these dependencies";
  const label = jobLabel(first.job);
  if (cycle.length === 1)
    return { where: where(first), message: `the job ${label} comes after itself`, hint };
  const way = cycle.map((each) => `${jobLabel(each.job)} (${where(each)})`).join(" after ");
  return { where: where(first), message: `jobs wait for each other: ${way} after ${label}`, hint };
}
