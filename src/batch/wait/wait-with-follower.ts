// Waits for jobs of a batch that a client follows: through its socket, or, where it cannot be asked, through the record it writes.

import { statSync } from "node:fs";
import path from "node:path";
import { UserError } from "../../errors.js";
import { pause } from "../../fleet/retrying.js";
import type { BatchState } from "../../model/batch-state.js";
import type { RunEvent } from "../../model/event.js";
import type { JobId } from "../../model/job.js";
import { isHere } from "../../run/home/lock.js";
import { orAfter } from "../../transport/aborted.js";
import { describeHolder, loadBatch, readBatchHolder } from "../find/batches-here.js";
import { type Follower, HELLO_MS, reachFollower } from "../follower/ask-follower.js";
import { watchBatch } from "../follower/watch-batch.js";
import { endOf } from "./job-end.js";
import type { WaitMeans } from "./wait-alone.js";

const POLL_MS = 500;

/** `jobs` null: the whole batch, until its client ends. Resolves when they have ended, or when the client has gone. */
export async function waitWithFollower(
  stem: string,
  jobs: readonly JobId[] | null,
  means: WaitMeans,
): Promise<void> {
  const within = orAfter(means.signal, HELLO_MS);
  const follower = await reachFollower(means.results, stem, within).catch(orNone);
  if (follower === null) await watchRecord(stem, jobs, means);
  else await watchFollower(follower, stem, jobs, means);
  means.signal.throwIfAborted();
}

/** One that does not answer may be stopped for a while. */
function orNone(error: unknown): null {
  if (error instanceof UserError) return null;
  throw error;
}

async function watchFollower(
  follower: Follower,
  stem: string,
  jobs: readonly JobId[] | null,
  { results, onProgress, signal }: WaitMeans,
): Promise<void> {
  const open = jobs === null ? null : new Set(jobs);
  let state: BatchState | null = null;
  const viewer = {
    show: (_: RunEvent, known: { readonly state: BatchState }) => {
      state = known.state;
      onProgress({ stem, state });
    },
    isEnough: (event: RunEvent) => open !== null && state !== null && areEnded(open, state, event),
  };
  const close = () => follower.close();
  signal.addEventListener("abort", close, { once: true });
  try {
    await watchBatch({ follower, results, stem, signal, open: async () => viewer });
  } catch (error) {
    // It was killed, or is gone without a word: what it knew is in the record, the rest on the machines.
    if (!(error instanceof UserError)) throw error;
    await pause(POLL_MS, signal);
  } finally {
    signal.removeEventListener("abort", close);
    close();
  }
}

/** Takes those that have ended out of `open`. An event about one job can have ended that one only. */
function areEnded(open: Set<JobId>, state: BatchState, event: RunEvent): boolean {
  const changed = "job" in event ? [event.job] : MAY_END_MANY.has(event.kind) ? [...open] : [];
  for (const id of changed) if (hasEnded(state, id)) open.delete(id);
  return open.size === 0;
}

/** One that is not in the batch any more has nothing left to wait for. */
function hasEnded({ jobs }: BatchState, id: JobId): boolean {
  const tracked = jobs.get(id);
  return tracked === undefined || endOf(tracked, true) !== null;
}

const MAY_END_MANY: ReadonlySet<RunEvent["kind"]> = new Set([
  "run-started",
  "jobs-stopping",
  "jobs-taken-back",
  "jobs-gone",
  "interrupted",
  "halted",
  "machine-failed",
]);

/** A client of another computer or version, which writes all it learns to the record at once. */
async function watchRecord(
  stem: string,
  jobs: readonly JobId[] | null,
  { results, onNote, onProgress, signal }: WaitMeans,
): Promise<void> {
  const holder = readBatchHolder(results, stem);
  if (holder !== null && !isHere(holder))
    onNote(`${describeHolder(holder)} follows ${stem}, and cannot be asked: its record is watched`);
  const record = path.join(results.privateDir, `${stem}.jsonl`);
  let size = -1;
  while (!signal.aborted && readBatchHolder(results, stem) !== null) {
    const { size: newSize } = statSync(record, { throwIfNoEntry: false }) ?? { size: 0 };
    const here = newSize === size ? null : loadBatch(results, stem);
    size = newSize;
    if (here !== null) {
      onProgress(here);
      if (jobs?.every((id) => hasEnded(here.state, id))) return;
    }
    await pause(POLL_MS, signal);
  }
}
