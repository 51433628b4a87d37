// Waits until jobs have ended, whichever client follows their batches meanwhile, and reports how each ended. It only looks: it
// collects nothing, and keeps no client from coming.

import { UserError } from "../../errors.js";
import type { JobId } from "../../model/job.js";
import { type BatchHere, loadBatch } from "../find/batches-here.js";
import type { ChosenJobs } from "../name/choose-jobs.js";
import { endOf } from "./job-end.js";
import { type WaitMeans, waitAlone } from "./wait-alone.js";
import { waitWithFollower } from "./wait-with-follower.js";

export interface WaitedBatch {
  /** As it was at the end of the waiting. */
  readonly here: BatchHere;
  readonly jobs: readonly JobId[];
  /** Why each job that has not ended will not do so by itself. */
  readonly open: ReadonlyMap<JobId, string>;
}

/** Rejects with the signal's reason when that comes first. */
export function waitForJobs(
  chosen: readonly ChosenJobs<BatchHere>[],
  means: WaitMeans,
): Promise<WaitedBatch[]> {
  return Promise.all(chosen.map((each) => waitForBatch(each, means)));
}

async function waitForBatch(
  { here: { stem }, jobs, isWhole }: ChosenJobs<BatchHere>,
  means: WaitMeans,
): Promise<WaitedBatch> {
  // Jobs that come later belong to the whole batch, too.
  const ids = isWhole ? null : jobs.map(({ id }) => id);
  for (let wasGone = false; ; ) {
    means.signal.throwIfAborted();
    const here = reload(stem, means);
    if (here.holder !== null) {
      await waitWithFollower(stem, ids, means);
      const after = reload(stem, means);
      if (after.holder !== null && ids !== null && haveEnded(after, ids)) return withGone(after, ids);
      continue;
    }
    const waited = await waitAlone(here, ids ?? here.jobs.map(({ id }) => id), means);
    if (waited.hasClient) continue;
    if (waited.isAnyGone && !wasGone) wasGone = true;
    else return withGone(here, ids ?? here.jobs.map(({ id }) => id), waited.reasons);
  }
}

function reload(stem: string, { results }: WaitMeans): BatchHere {
  const here = loadBatch(results, stem);
  if (here !== null) return here;
  throw new UserError(`the record of ${stem} is gone`, { hint: "was job_results removed?" });
}

function haveEnded({ state }: BatchHere, ids: readonly JobId[]): boolean {
  return ids.every((id) => {
    const tracked = state.jobs.get(id);
    return tracked === undefined || endOf(tracked, true) !== null;
  });
}

/** A job whose line was removed from the script never ended. */
function withGone(
  here: BatchHere,
  jobs: readonly JobId[],
  reasons: ReadonlyMap<JobId, string> = new Map(),
): WaitedBatch {
  const gone = jobs.filter((id) => !here.state.jobs.has(id));
  return { here, jobs, open: new Map([...reasons, ...gone.map((id) => [id, NOT_IN_BATCH] as const)]) };
}

const NOT_IN_BATCH = "the script does not have them any more";
