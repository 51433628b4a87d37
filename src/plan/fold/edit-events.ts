// Applies an edit of the batch file: some jobs get other names, some are gone, and some wait for gone ones.

import { type Attempt, isUnbegun } from "../../model/attempt.js";
import type { TrackedJob } from "../../model/batch-state.js";
import { type Job, kindOf } from "../../model/job.js";
import type { ScriptEdit } from "../../model/script-edit.js";
import { attemptsOf } from "../../model/standing.js";
import { asGrown, forgetOutdated } from "../grown.js";
import type { RunState } from "../run-state.js";
import { drop, makeCurrent, overtake, release, setTraits, settleRetry, untrack } from "./attempts.js";
import { relink, WAITING } from "./fates.js";

/** Applying the same edit twice is harmless. */
export function applyEdit(state: RunState, { moves, gone, after, files }: ScriptEdit): void {
  const leaving = new Set(gone);
  const asides = new Map(files);
  for (const { job: id, from, to } of moves) {
    const tracked = state.jobs.get(id);
    if (tracked === undefined) continue;
    setTraits(tracked, { copy: copyAfter(tracked.traits.copy, { from, to }, asides) });
    setJob(state, tracked, { ...tracked.job, name: to });
    if (tracked.traits.isGone && !leaving.has(id)) revive(state, tracked);
  }
  for (const [id, other] of after) {
    const tracked = state.jobs.get(id);
    if (tracked !== undefined) setTraits(tracked, { after: other });
  }
  for (const id of gone) {
    const tracked = state.jobs.get(id);
    if (tracked !== undefined) retire(state, tracked);
  }
}

/** Only to a name of the same job: the names of others may move on to those that this one has by now. */
function copyAfter(
  copy: string | null,
  { from, to }: { from: string; to: string },
  asides: ReadonlyMap<string, string>,
): string | null {
  const moved = copy === from ? to : asides.get(copy ?? "");
  return moved === to || moved?.startsWith(`${to}.`) ? moved : copy;
}

/** Replaces the job's command, name or line. Its attempts stay, and so does what it needs since it ran out of memory. */
export function setJob(state: RunState, tracked: TrackedJob, job: Job): void {
  forgetOutdated(state, job);
  const { dependsOn } = tracked.job;
  tracked.job = asGrown(state, job);
  if (tracked.job.dependsOn !== dependsOn) relink(state, tracked);
  const { id, requirement } = tracked.job;
  if (requirement === undefined) state.kinds.delete(id);
  else state.kinds.set(id, kindOf(requirement));
}

/** Waiting attempts are taken back from their machine; an attempt that has begun continues. */
function retire(state: RunState, tracked: TrackedJob): void {
  setTraits(tracked, { isGone: true });
  settleRetry(state, tracked);
  release(state, attemptsOf(tracked));
  const left = attemptsOf(tracked).findLast(isLeft);
  if (left === undefined) return untrack(state, tracked);
  const { fate } = tracked;
  if (fate.kind === "tried" ? !isUnbegun(fate) : fate.kind === "skipped") return;
  if (hasBegun(left)) return makeCurrent(state, tracked, left);
  overtake(state, tracked, WAITING);
  drop(state, tracked);
}

/** The command is in the file again before its old attempt was taken back. */
function revive(state: RunState, tracked: TrackedJob): void {
  setTraits(tracked, { isGone: false });
  const left = attemptsOf(tracked).findLast(isLeft);
  if (tracked.fate.kind === "dropped" && left !== undefined) makeCurrent(state, tracked, left);
}

/** Forgets gone jobs that have nothing left on any machine. */
export function forgetGone(state: RunState): void {
  for (const tracked of [...state.jobs.values()])
    if (tracked.traits.isGone && !attemptsOf(tracked).some(isLeft)) untrack(state, tracked);
}

function isLeft({ stage }: Attempt): boolean {
  return stage.kind !== "collected";
}

function hasBegun({ stage: { kind } }: Attempt): boolean {
  return kind === "running" || kind === "ended" || kind === "stuck";
}
