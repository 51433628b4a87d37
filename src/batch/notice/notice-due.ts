// Decides when the command of a notice is run, and with which facts. Pure.

import type { BatchState, TrackedJob } from "../../model/batch-state.js";
import { countWords } from "../../model/batch-status.js";
import { elapsedMs } from "../../model/batch-times.js";
import type { NoticeFacts } from "../../model/notice.js";
import { lastAttempt, wordOf } from "../../model/standing.js";
import { endOf } from "../wait/job-end.js";
import type { StoredNotice } from "./notice-store.js";

/** Times of machines are known to about a second. */
const SKEW_MS = 2000;
const MOST_NAMES = 10;

export interface Moment {
  readonly state: BatchState;
  /** A client follows the batch: results come, and jobs may be tried again. */
  readonly isFollowed: boolean;
  /** The batch is at its end. */
  readonly isOver: boolean;
}

/** "lapsed": the batch ended without what the notice is for. Null: that is still to come. */
export function dueOf({ on, since }: StoredNotice, moment: Moment): "due" | "lapsed" | null {
  if (on === "end") return moment.isOver ? "due" : null;
  for (const tracked of moment.state.jobs.values()) if (hasFailed(tracked, moment, since)) return "due";
  return moment.isOver ? "lapsed" : null;
}

/** For good, and since then. */
export function hasFailed(
  tracked: TrackedJob,
  { isFollowed }: Pick<Moment, "isFollowed">,
  since: number,
): boolean {
  const word = endOf(tracked, isFollowed);
  if (word !== "failed" && word !== "lost") return false;
  const stage = lastAttempt(tracked)?.stage;
  const endedAt = stage !== undefined && "endedAt" in stage ? stage.endedAt : null;
  return endedAt === null || endedAt >= since - SKEW_MS;
}

/** A run that ends is the end of its batch unless a machine has a job that goes on, or may have one. */
export function isAtEnd({ jobs }: BatchState): boolean {
  for (const { fate } of jobs.values()) if (fate.kind === "tried" && !("outcome" in fate.stage)) return false;
  return true;
}

/** `now` is null when the batch is over. */
export function factsOf(
  about: Pick<NoticeFacts, "on" | "batch" | "stem" | "directory">,
  state: BatchState,
  now: number | null,
): NoticeFacts {
  const jobs = [...state.jobs.values()];
  const failed = jobs.filter((tracked) => ["failed", "lost"].includes(wordOf(tracked)));
  return {
    ...about,
    counts: countWords(jobs.map((tracked) => ({ state: wordOf(tracked) }))),
    leftOut: jobs.filter((tracked) => state.leftOut.has(tracked.job.id) && wordOf(tracked) === "waiting")
      .length,
    elapsedMs: elapsedMs(state, now),
    failedJobs: failed.slice(0, MOST_NAMES).map(({ job }) => job.name),
  };
}
