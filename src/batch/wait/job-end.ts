// When a job that is waited for counts as ended. Pure.

import type { TrackedJob } from "../../model/batch-state.js";
import { type JobWord, wordOf } from "../../model/standing.js";

/**
 * How it ended; null: it has not. While a client follows the batch, a job has ended once its results are here, and one that is
 * about to be retried has not.
 */
export function endOf(tracked: TrackedJob, isFollowed: boolean): JobWord | null {
  const { fate } = tracked;
  if (fate.kind !== "tried") return isSettled(fate.kind) ? wordOf(tracked) : null;
  const { stage } = fate;
  switch (stage.kind) {
    case "collected":
      return isFollowed && stage.isToRetry ? null : wordOf(tracked);
    case "ended":
      return isFollowed ? null : wordOf(tracked);
    case "stuck":
    case "unknown":
      return wordOf(tracked);
    case "assigned":
    case "sent":
    case "queued":
    case "running":
      return null;
    default:
      return stage satisfies never;
  }
}

function isSettled(kind: Exclude<TrackedJob["fate"]["kind"], "tried">): boolean {
  return kind !== "waiting" && kind !== "dropped";
}
