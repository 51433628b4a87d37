// Turns what a user asks for into jobs of a queue, or reports every mistake. Pure.

import path from "node:path";
import { type Problem, problemsError } from "../../errors.js";
import { splitOptionWords } from "../../input/batch/option-words.js";
import { findCircle } from "../../model/dependency-circle.js";
import type { Dependency, JobId } from "../../model/job.js";
import {
  type DependencyAsk,
  type Enqueue,
  HIGHEST_PRIORITY,
  isPriority,
  type JobAsk,
  type Queue,
} from "../../model/queue.js";
import { usualNeed } from "../../plan/queue/queue-need.js";
import { programLine, quoteIfNeeded } from "../../transport/quote.js";
import type { AskedJob } from "../store/job-row.js";

export interface CheckedJob extends AskedJob {
  /** Of its own, without those of the shell. */
  readonly env: Readonly<Record<string, string>>;
}

export interface Adding {
  readonly queue: Queue;
  /** The first free one. */
  readonly firstId: JobId;
  /** The newest job with this name. */
  readonly idOfName: (name: string) => JobId | undefined;
  readonly isThere: (id: JobId) => boolean;
  /** Below it, results go to a directory per queue. */
  readonly resultsDir: string;
}

/** Throws UserError with every mistake. */
export function newJobs({ jobs, cwd }: Enqueue, adding: Adding): CheckedJob[] {
  const problems: Problem[] = [];
  const added = jobs.map((ask, place) => newJob(ask, place, { adding, cwd, count: jobs.length, problems }));
  if (problems.length === 0) refuseCircle(added, adding.firstId, problems);
  if (problems.length > 0) throw problemsError(problems);
  return added;
}

interface Reading {
  readonly adding: Adding;
  readonly cwd: string;
  readonly count: number;
  readonly problems: Problem[];
}

function newJob(ask: JobAsk, place: number, reading: Reading): CheckedJob {
  const { adding, problems, count } = reading;
  const { queue, firstId } = adding;
  const where = count === 1 ? quoteIfNeeded(ask.command) : `job ${place + 1}`;
  const { name = null, priority = 0, terms = {}, env = {} } = ask;
  if (name !== null) checkName(name, where, problems);
  if (!isPriority(priority))
    problems.push({
      where,
      message: `a priority is a whole number from -${HIGHEST_PRIORITY} to ${HIGHEST_PRIORITY}`,
    });
  const cwd = ask.cwd ?? queue.cwd ?? reading.cwd;
  if (!path.isAbsolute(cwd)) problems.push({ where, message: `the directory ${cwd} is no absolute path` });
  const id = firstId + place;
  const envNames = Object.keys(env);
  return {
    id,
    name,
    command: commandOf(ask, queue, where, problems),
    cwd,
    need: ask.need ?? usualNeed(queue),
    priority,
    after: distinct((ask.after ?? []).flatMap((each) => readDependency(each, where, reading) ?? [])),
    isHeld: ask.isHeld ?? false,
    terms: { ...terms, ...(envNames.length > 0 && { envNames }) },
    results: resultsOf({ id, name, cwd, terms }, adding),
    env,
  };
}

/** Names are directories, and must not look like ids. */
function checkName(name: string, where: string, problems: Problem[]): void {
  // \p{C}: what no screen shows, such as control characters and halves of characters.
  if (/^[^/\p{C}.-][^/\p{C}]{0,99}$/u.test(name) && !/^\d+$/.test(name)) return;
  const message = `the name ${JSON.stringify(name)} cannot be used: a name has neither / nor control characters, begins with a letter or digit, and is no number`;
  problems.push({ where, message, hint: "for example --name train-a" });
}

function commandOf(
  { command, words }: JobAsk,
  { prefix }: Queue,
  where: string,
  problems: Problem[],
): string {
  if (command.trim() === "") problems.push({ where, message: "the command is empty" });
  if (command.includes("\0")) problems.push({ where, message: "the command has a NUL byte" });
  if (prefix.length === 0) return command;
  const own = words ?? splitOptionWords(command);
  if (own === null) problems.push({ where, message: "a quote is not closed" });
  return programLine([...prefix, ...(own ?? [])]);
}

function readDependency(
  asked: DependencyAsk,
  where: string,
  { adding, count, problems }: Reading,
): Dependency | null {
  const { when } = asked;
  if ("place" in asked) {
    if (asked.place >= 0 && asked.place < count) return { job: adding.firstId + asked.place, when };
    problems.push({
      where,
      message: `it comes after job ${asked.place + 1} of this request, which has ${count}`,
    });
    return null;
  }
  const { job } = asked;
  const id = typeof job === "number" || /^\d+$/.test(job) ? Number(job) : adding.idOfName(job);
  if (id !== undefined && adding.isThere(id)) return { job: id, when };
  const hint = `sshoal show ${adding.queue.name}`;
  problems.push({
    where,
    message: `it comes after ${job}, and the queue ${adding.queue.name} has no such job`,
    hint,
  });
  return null;
}

/** The same job may be named twice, as by its id and by its name. */
function distinct(after: readonly Dependency[]): Dependency[] {
  return [...new Map(after.map((each) => [`${each.job} ${each.when}`, each])).values()];
}

function resultsOf(
  { id, name, cwd, terms }: { id: JobId; name: string | null; cwd: string; terms: JobAsk["terms"] },
  { queue, resultsDir }: Adding,
): string {
  if (terms?.resultsHere) return path.join(cwd, "job_results", `${name ?? queue.name}.${id}`);
  return path.join(resultsDir, queue.name, name ?? "job", String(id));
}

/** Only jobs of one request can come after each other in a circle. */
function refuseCircle(jobs: readonly CheckedJob[], firstId: JobId, problems: Problem[]): void {
  const waiting = jobs.filter(({ after }) => after.length > 0);
  const circle = findCircle(
    new Map(waiting.map(({ id, after }) => [id, new Set(after.map(({ job }) => job))])),
  );
  if (circle === null) return;
  const places = circle.map((id) => id - firstId + 1);
  problems.push({
    where: `job ${places[0]}`,
    message: `jobs come after each other in a circle: ${[...places, places[0]].join(" → ")}`,
  });
}
