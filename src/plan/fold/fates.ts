// The only file that changes a job's fate, so that counts and indices stay correct. A job that comes after others gets its
// fate from theirs.

import type { Fate, Phase, TrackedJob } from "../../model/batch-state.js";
import type { JobId } from "../../model/job.js";
import { phaseOf } from "../../model/standing.js";
import { fateOfWanted, link, recount as recountDependants } from "../dependencies.js";
import type { RunState } from "../run-state.js";

/** One shared object, because a batch can have very many jobs. */
export const WAITING: Fate = { kind: "waiting" };
export const DROPPED: Fate = { kind: "dropped" };
const STOPPED: Fate = { kind: "stopped" };
const BLOCKED: Fate = { kind: "blocked" };
const UNNEEDED: Fate = { kind: "unneeded" };

export function setFate(state: RunState, tracked: TrackedJob, fate: Fate): void {
  if (isToBegin(tracked, fate)) want(state, tracked, fate);
  else put(state, tracked, fate, null);
  passOn(state, tracked.job.id);
}

/** True if it begins as soon as it may, in this run or the next. */
function isToBegin({ traits }: TrackedJob, { kind }: Fate): boolean {
  return kind === "waiting" || (kind === "dropped" && !traits.isGone);
}

/** It waits for a machine or for other jobs, or is skipped because of others. `fate`: if it is not skipped. */
function want(state: RunState, tracked: TrackedJob, fate: Fate): void {
  const kind = fateOfWanted(state.dependencies, tracked.job.id);
  if (kind === "blocked") put(state, tracked, BLOCKED, null);
  else if (kind === "unneeded") put(state, tracked, UNNEEDED, null);
  else if (fate.kind !== "waiting") put(state, tracked, fate, null);
  else put(state, tracked, fate, kind === "held" ? state.held : state.waiting);
}

/** `place`: where it waits; null: it does not wait at the client. */
function put(state: RunState, tracked: TrackedJob, fate: Fate, place: Set<JobId> | null): void {
  const { waiting, held } = state;
  const { id } = tracked.job;
  const before = phaseOf(tracked);
  tracked.fate = fate;
  const after = phaseOf(tracked);
  recount(state, before, after);
  if (place !== waiting) waiting.delete(id);
  if (place !== held) held.delete(id);
  place?.add(id);
  if (before !== after) noteSkipped(state, id, after);
}

/** An event tells people once. */
function noteSkipped({ dependencies: { untold } }: RunState, id: JobId, phase: Phase): void {
  if (phase === "blocked" || phase === "unneeded") untold.add(id);
  else untold.delete(id);
}

/** Jobs that come after this one may begin, wait or be skipped now. A loop, because chains can be long. */
export function passOn(state: RunState, first: JobId): void {
  const { dependencies, jobs } = state;
  if (dependencies.dependants.size === 0) return;
  const changed = [first];
  for (const id of changed) {
    for (const dependant of recountDependants(dependencies, id, jobs.get(id))) {
      const tracked = jobs.get(dependant);
      if (tracked === undefined || !isUndecided(tracked)) continue;
      decideAgain(state, tracked);
      changed.push(dependant);
    }
  }
}

/** True if other jobs decide whether it begins. */
function isUndecided(tracked: TrackedJob): boolean {
  const { fate } = tracked;
  return isToBegin(tracked, fate) || fate.kind === "blocked" || fate.kind === "unneeded";
}

function decideAgain(state: RunState, tracked: TrackedJob): void {
  want(state, tracked, isToBegin(tracked, tracked.fate) ? tracked.fate : fateAtHome(state, tracked));
}

/** Call it when the jobs that it comes after are others than before. */
export function relink(state: RunState, tracked: TrackedJob): void {
  link(state.dependencies, tracked.job, state.jobs);
  if (!isUndecided(tracked)) return;
  decideAgain(state, tracked);
  passOn(state, tracked.job.id);
}

/** The fate of a job that is back at the client. */
export function fateAtHome({ interrupted, stopping }: RunState, { job, traits }: TrackedJob): Fate {
  if (traits.isGone) return DROPPED;
  if (interrupted === "stop" || stopping.has(job.id)) return STOPPED;
  return interrupted === "no" ? WAITING : DROPPED;
}

export function recount({ tally }: RunState, before: Phase, after: Phase): void {
  if (before === after) return;
  tally[before]--;
  tally[after]++;
}
