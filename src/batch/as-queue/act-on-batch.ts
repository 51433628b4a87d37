// Stops and retries jobs of a followed batch, and pauses it, for the API. Each answers when the run has done it.

import { Refusal } from "../../api/refusal.js";
import { UserError } from "../../errors.js";
import type { JobId } from "../../model/job.js";
import type { Act, Acted } from "../../model/queue.js";
import { wordOf } from "../../model/standing.js";
import { canContinue, startsNothing } from "../../plan/halt.js";
import { isOver, retryIn } from "../follow/steer-run.js";
import type { Awaited } from "../follower/awaited.js";
import { askToStop, isOpen, maySettle, type StoppedJob, stopReport } from "../stop/stop-jobs.js";
import type { FollowedBatch } from "./followed-batch.js";

type Answer = Acted["jobs"][number];

/** A job gets ten seconds to end by itself. */
const PATIENCE_MS = 20_000;
const NO_ANSWER = "its machine has not answered yet";

/** Throws UserError if the batch cannot do it now. */
export async function actOnBatch({ verb, ids }: Act, batch: FollowedBatch, awaited: Awaited): Promise<Acted> {
  if (verb !== "stop" && verb !== "retry")
    throw new Refusal(405, `a followed batch does not take the verb ${verb}`, {
      hint: "it takes stop and retry; edit its file for the rest, and type its command again",
    });
  await batch.run.begun;
  const all = [...new Set(ids)];
  const known = all.filter((id) => isKnown(batch, id));
  const answers = await (verb === "stop" ? stop : retry)(known, batch, awaited);
  const found = new Map(answers.map((each) => [each.id, each]));
  return { jobs: all.map((id) => found.get(id) ?? unknownJob(batch, id)) };
}

/** Once this resolves, no job begins on a machine that answers. */
export async function setBatchPaused(
  isPaused: boolean,
  { run, steering }: FollowedBatch,
  awaited: Awaited,
): Promise<void> {
  await run.begun;
  if (!isPaused && run.state.interrupted !== "no" && !canContinue(run.state))
    throw new UserError("the batch starts no more jobs", {
      hint: "wait until it ends, then type its command again",
    });
  if (isPaused) steering.pause();
  else steering.continue();
  const isDone = () =>
    startsNothing(run.state) === isPaused && (!isPaused || isQuiet(run.state)) ? true : null;
  if ((await awaited.until(isDone, () => true, PATIENCE_MS)) !== null) return;
  throw new UserError(`not every machine has answered yet`, { hint: "see GET /v1/machines" });
}

function isQuiet({ machines }: FollowedBatch["run"]["state"]): boolean {
  return [...machines.values()].every(({ phase, current: { assigned, sent, queued } }) => {
    return phase === "lost" || phase === "failed" || assigned.size + sent.size + queued.size === 0;
  });
}

async function stop(ids: readonly JobId[], { run }: FollowedBatch, awaited: Awaited): Promise<Answer[]> {
  const isTarget = new Set(ids.filter((id) => isOpen(run.state.jobs.get(id))));
  const targets = askToStop(run, [...isTarget]);
  const report = await awaited.until(() => stopReport(run.state, targets), maySettle, PATIENCE_MS);
  const ends = new Map((report ?? []).map(({ job, end }) => [job, end]));
  return ids.map((id): Answer => {
    const state = wordNow(run, id);
    return isTarget.has(id) ? stopped(id, state, ends.get(id)) : { id, state, refused: "it is over" };
  });
}

function stopped(id: JobId, state: Answer["state"], end: StoppedJob["end"] | undefined): Answer {
  if (end === undefined || end === "unreached")
    return { id, state, refused: `it is being stopped, and ${NO_ANSWER}` };
  return { id, state: end };
}

async function retry(ids: readonly JobId[], { run }: FollowedBatch, awaited: Awaited): Promise<Answer[]> {
  const again = ids.filter((id) => isOver(run, id));
  const begun = new Set<JobId>();
  if (again.length > 0) {
    await retryIn(run, again);
    const look = () => {
      for (const id of again) if (!isOver(run, id)) begun.add(id);
      return begun.size === again.length ? true : null;
    };
    await awaited.until(look, () => true, PATIENCE_MS);
  }
  return ids.map((id): Answer => {
    const state = wordNow(run, id);
    if (begun.has(id)) return { id, state };
    return { id, state, refused: again.includes(id) ? NO_ANSWER : "it has not ended" };
  });
}

function isKnown({ run }: FollowedBatch, id: JobId): boolean {
  const tracked = run.state.jobs.get(id);
  return tracked !== undefined && !tracked.traits.isGone;
}

function unknownJob({ run }: FollowedBatch, id: JobId): Answer {
  return { id, state: "removed", refused: `there is no job ${run.batch}/${id}` };
}

function wordNow({ state }: FollowedBatch["run"], id: JobId): Answer["state"] {
  const tracked = state.jobs.get(id);
  return tracked === undefined ? "removed" : wordOf(tracked);
}
