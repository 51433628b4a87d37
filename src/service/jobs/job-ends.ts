// What follows when a job of a queue ends: it may run once more, and jobs that come after it wait no longer, or are skipped.

import { turnoutAt, verdictOf } from "../../model/dependency.js";
import type { Dependency, JobId, Outcome, Turnout } from "../../model/job.js";
import type { QueueJob } from "../../model/queue.js";
import type { JobWord } from "../../model/standing.js";
import { endingOf } from "../../model/standing.js";
import { whySkipped } from "../../model/why-skipped.js";
import type { Tell } from "../ledger.js";
import type { ServiceDatabase } from "../store/open-database.js";
import type { Ended } from "../store/stored-jobs.js";

/** A job that is lost with its machine runs again this often, unless it says otherwise. */
const RETRIES_OF_LOST = 2;

/** `job`: as it was before the end, with the run that has ended counted. */
export function runsAgain({ attempt, terms: { retries } }: QueueJob, outcome: Outcome): boolean {
  const word = endingOf(outcome);
  if (word === "succeeded" || word === "stopped") return false;
  const most = retries ?? (word === "lost" ? RETRIES_OF_LOST : 0);
  return attempt <= most;
}

/** Belongs into a transaction. Skips what can no longer run, and everything behind it. */
export function endJob(db: ServiceDatabase, tell: Tell, job: QueueJob, end: Ended): void {
  db.jobs.ended(job.queue, job.id, end);
  const { state, outcome, durationMs, stderrTail, reason } = end;
  tell({
    kind: state === "skipped" ? "job-skipped" : "job-ended",
    queue: job.queue,
    job: job.id,
    data: { state, outcome, durationMs, stderrTail, reason, attempt: job.attempt },
  });
  skipBehind(db, tell, job.queue, [job.id, outcome === null ? "blocked" : turnoutAt(outcome)]);
}

/** A job is over. Tells the jobs behind it, and those behind each that is skipped. */
function skipBehind(db: ServiceDatabase, tell: Tell, queue: string, over: [JobId, Turnout]): void {
  // A list instead of recursion: chains can be long.
  const ended = [over];
  for (const [id, how] of ended) {
    for (const dependent of db.edges.dependentsOf(queue, id)) {
      const edge = { job: id, when: dependent.when };
      if (verdictOf(dependent.when, how) === "met") db.jobs.setMet(queue, dependent.job, edge, true);
      else if (waitsHere(db, queue, dependent.job))
        ended.push([dependent.job, skip(db, tell, queue, dependent.job, edge, how)]);
    }
  }
}

/** A machine that has it may begin it at any moment. If it comes back instead, it is judged then. */
function waitsHere(db: ServiceDatabase, queue: string, id: JobId): boolean {
  const known = db.jobs.findWithInside(queue, id);
  return known?.job.state === "waiting" && known.inside.given === null;
}

/** How it turned out for the jobs behind it. */
function skip(
  db: ServiceDatabase,
  tell: Tell,
  queue: string,
  id: JobId,
  { job: other, when }: Dependency,
  turnout: Turnout,
): Turnout {
  const reason = whySkipped(other, when, turnout);
  const nothing = { outcome: null, durationMs: null, footprint: null, stderrTail: null };
  db.jobs.ended(queue, id, { state: "skipped", at: Date.now(), reason, ...nothing });
  tell({ kind: "job-skipped", queue, job: id, data: { state: "skipped", reason } });
  return verdictOf(when, turnout) === "unneeded" ? "unneeded" : "blocked";
}

/** Belongs into a transaction. No machine has these jobs any more: each waits again, or is skipped if it can no longer run. */
export function takeBack(db: ServiceDatabase, tell: Tell, queue: string, ids: readonly JobId[]): void {
  db.jobs.putBack(queue, ids);
  for (const id of ids) {
    const job = db.jobs.find(queue, id);
    const never = job === null ? null : neverMet(db, job);
    if (never !== null)
      skipBehind(db, tell, queue, [id, skip(db, tell, queue, id, never.dependency, never.turnout)]);
  }
}

/** Belongs into a transaction. The job waits again, and so do the jobs that were skipped because of it. */
export function reopenJob(db: ServiceDatabase, tell: Tell, queue: string, id: JobId): void {
  const reopened: JobId[] = [id];
  for (const each of reopened) {
    db.jobs.putBack(queue, [each]);
    judgeAgain(db, queue, each);
    tell({ kind: "job-changed", queue, job: each, data: { state: "waiting" } });
    for (const { job: dependent, when } of db.edges.dependentsOf(queue, each)) {
      const job = db.jobs.find(queue, dependent);
      if (job === null || (job.state !== "skipped" && job.state !== "waiting")) continue;
      db.jobs.setMet(queue, dependent, { job: each, when }, false);
      if (job.state === "skipped" && !reopened.includes(dependent) && whyNever(db, job) === null)
        reopened.push(dependent);
    }
  }
}

/** Jobs that it comes after may have been run again or removed since it was over. */
function judgeAgain(db: ServiceDatabase, queue: string, id: JobId): void {
  for (const dependency of db.jobs.find(queue, id)?.after ?? []) {
    const isMet = verdictOf(dependency.when, turnoutIn(db, queue, dependency.job)) === "met";
    db.jobs.setMet(queue, id, dependency, isMet);
  }
}

/** A job that it comes after has ended in another way than it needs; null: none has. */
export function whyNever(db: ServiceDatabase, job: QueueJob): string | null {
  const never = neverMet(db, job);
  return never === null ? null : whySkipped(never.dependency.job, never.dependency.when, never.turnout);
}

function neverMet(
  db: ServiceDatabase,
  { queue, after }: QueueJob,
): { readonly dependency: Dependency; readonly turnout: Turnout } | null {
  for (const dependency of after) {
    const turnout = turnoutIn(db, queue, dependency.job);
    const verdict = verdictOf(dependency.when, turnout);
    if (turnout !== undefined && verdict !== "open" && verdict !== "met") return { dependency, turnout };
  }
  return null;
}

function turnoutIn(db: ServiceDatabase, queue: string, id: JobId): Turnout | undefined {
  const job = db.jobs.find(queue, id);
  return job === null ? undefined : turnoutOfState(job);
}

/** Of a job that is over, for jobs that come after it; "open": it is not. */
export function turnoutOfState({ state, outcome }: Pick<QueueJob, "state" | "outcome">): Turnout {
  if (outcome !== null) return turnoutAt(outcome);
  return isOver(state) ? "blocked" : "open";
}

export function isOver(state: JobWord): boolean {
  return state !== "waiting" && state !== "running";
}

/** Nothing of it runs, and nothing will by itself: jobs that are held do not count. */
export function isQueueEmpty(db: ServiceDatabase, queue: string): boolean {
  const { waiting, running, held } = db.jobs.counts(queue);
  return waiting - held + running === 0;
}
