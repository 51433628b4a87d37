// What follows when a job of a queue ends: it may run once more, and jobs that come after it wait no longer, or are skipped.

import type { JobWord } from "../model/batch-state.js";
import { endingOf } from "../model/batch-state.js";
import { turnoutAt, verdictOf } from "../model/dependency.js";
import type { Dependency, JobId, Outcome, Turnout } from "../model/job.js";
import type { QueueJob } from "../model/queue.js";
import type { Tell } from "./ledger.js";
import type { ServiceDatabase } from "./store/open-database.js";
import type { Ended } from "./store/stored-jobs.js";

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
  const turnout = outcome === null ? "blocked" : turnoutAt(outcome);
  // A list instead of recursion: chains can be long.
  const ended: [JobId, Turnout][] = [[job.id, turnout]];
  for (const [id, how] of ended) {
    for (const dependent of db.edges.dependentsOf(job.queue, id)) {
      const verdict = verdictOf(dependent.when, how);
      const edge = { job: id, when: dependent.when };
      if (verdict === "met") db.jobs.setMet(job.queue, dependent.job, edge, true);
      else if (skip(db, tell, job.queue, dependent.job, edge, how))
        ended.push([dependent.job, verdict === "unneeded" ? "unneeded" : "blocked"]);
    }
  }
}

function skip(
  db: ServiceDatabase,
  tell: Tell,
  queue: string,
  id: JobId,
  { job: other, when }: Dependency,
  turnout: Turnout,
): boolean {
  const dependent = db.jobs.find(queue, id);
  if (dependent?.state !== "waiting") return false;
  const reason = whySkipped(other, when, turnout);
  const end: Ended = {
    state: "skipped",
    at: Date.now(),
    outcome: null,
    durationMs: null,
    footprint: null,
    stderrTail: null,
    reason,
  };
  db.jobs.ended(queue, id, end);
  tell({ kind: "job-skipped", queue, job: id, data: { state: "skipped", reason } });
  return true;
}

const HOW: Readonly<Record<Turnout, string>> = {
  open: "has not ended",
  succeeded: "succeeded",
  failed: "failed",
  stopped: "was stopped",
  blocked: "was skipped",
  unneeded: "was skipped",
  unknown: "is lost",
};

const WANTED: Readonly<Record<Dependency["when"], string>> = {
  succeeded: "had to succeed",
  ended: "had to end",
  failed: "had to fail",
};

function whySkipped(job: JobId, when: Dependency["when"], turnout: Turnout): string {
  return `job ${job} ${HOW[turnout]}, and ${WANTED[when]}`;
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
export function whyNever(db: ServiceDatabase, { queue, after }: QueueJob): string | null {
  for (const { job, when } of after) {
    const turnout = turnoutIn(db, queue, job);
    const verdict = verdictOf(when, turnout);
    if (turnout !== undefined && verdict !== "open" && verdict !== "met")
      return whySkipped(job, when, turnout);
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
