// The only file that changes a job's fate or an attempt's stage, so that counts and indices stay correct.

import { ASSIGNED, type Attempt, type Stage } from "../../model/attempt.js";
import { rankIn } from "../../model/attempt-key.js";
import {
  attemptsOf,
  type Fate,
  type MachineState,
  type Phase,
  phaseAt,
  phaseOf,
  runsOf,
  type TrackedJob,
  withAttempt,
} from "../../model/batch-state.js";
import type { JobId } from "../../model/job.js";
import { fateOfWanted, link, recount as recountDependants, unlink } from "../dependencies.js";
import { type RunState, toChange } from "../run-state.js";
import { forget, list, unlist } from "./attempt-lists.js";

/** One shared object, because a batch can have very many jobs. */
export const WAITING: Fate = { kind: "waiting" };
const DROPPED: Fate = { kind: "dropped" };
const STOPPED: Fate = { kind: "stopped" };
const BLOCKED: Fate = { kind: "blocked" };
const UNNEEDED: Fate = { kind: "unneeded" };
/** Shared, because nearly all jobs have no attempt or one. */
const NONE: readonly Attempt[] = [];

/** Creates a new attempt, which replaces the job's earlier fate. */
export function assignTo(state: RunState, machine: MachineState, tracked: TrackedJob, number: number): void {
  const { id } = tracked.job;
  tracked.lastNumber = number;
  tracked.isReplaced = false;
  const attempt: Attempt = {
    kind: "tried",
    job: id,
    number,
    rank: rankIn(machine.spoolFormat, tracked.job),
    machine: machine.name,
    isCurrent: true,
    run: null,
    stage: ASSIGNED,
  };
  machine.attempts.set(id, attempt);
  machine.current.assigned.add(attempt);
  setFate(state, tracked, attempt);
}

/** The job waits at the client again. If it must not begin any more, it is stopped or dropped. */
export function giveBack(state: RunState, tracked: TrackedJob): void {
  setFate(state, tracked, fateAtHome(state, tracked));
}

function fateAtHome({ interrupted, stopping }: RunState, { job, isGone }: TrackedJob): Fate {
  if (isGone) return DROPPED;
  if (interrupted === "stop" || stopping.has(job.id)) return STOPPED;
  return interrupted === "no" ? WAITING : DROPPED;
}

export function drop(state: RunState, tracked: TrackedJob): void {
  setFate(state, tracked, DROPPED);
}

/** Removes an attempt that was taken back or never sent, as if it had never existed. */
export function discard(state: RunState, tracked: TrackedJob, attempt: Attempt): void {
  const machine = toChange(state, attempt.machine);
  unlist(machine, attempt);
  forget(machine, attempt);
  if (isCurrentOf(tracked, attempt)) giveBack(state, tracked);
  else leaveOut(tracked, attempt);
  if (tracked.isGone && attemptsOf(tracked).every(({ stage }) => stage.kind === "collected"))
    untrack(state, tracked);
}

/** The job continues without this attempt, which may still be on its machine. */
export function overtake(state: RunState, tracked: TrackedJob, next: Fate): void {
  if (tracked.fate.kind === "tried") {
    const attempt = tracked.fate;
    const machine = toChange(state, attempt.machine);
    unlist(machine, attempt);
    attempt.isCurrent = false;
    list(machine, attempt);
    tracked.earlier = withAttempt(tracked.earlier, attempt);
  }
  setFate(state, tracked, next);
}

function leaveOut(tracked: TrackedJob, attempt: Attempt): void {
  const others = tracked.earlier.filter((each) => each !== attempt);
  tracked.earlier = others.length === 0 ? NONE : others;
}

/** Makes an overtaken attempt current again. The attempt that was current is overtaken. */
export function makeCurrent(state: RunState, tracked: TrackedJob, attempt: Attempt): void {
  const machine = toChange(state, attempt.machine);
  overtake(state, tracked, WAITING);
  leaveOut(tracked, attempt);
  unlist(machine, attempt);
  attempt.isCurrent = true;
  list(machine, attempt);
  setFate(state, tracked, attempt);
}

/** `machine` is the attempt's machine, from `toChange`. */
export function setStage(state: RunState, machine: MachineState, attempt: Attempt, stage: Stage): void {
  unlist(machine, attempt);
  if (attempt.isCurrent) recount(state, phaseAt(attempt.stage), phaseAt(stage));
  attempt.stage = stage;
  list(machine, attempt);
  if (attempt.isCurrent) passOn(state, attempt.job);
}

/** Notes that the attempt has begun. */
export function noteRun(tracked: TrackedJob, attempt: Attempt): void {
  attempt.run ??= runsOf(tracked) + 1;
}

/** Collects its results once more, unless the machine has a new attempt of the job. */
export function unstick(state: RunState, machine: MachineState, attempt: Attempt): void {
  const { stage, job } = attempt;
  if (stage.kind !== "stuck" || machine.attempts.has(job)) return;
  machine.attempts.set(job, attempt);
  setStage(state, machine, attempt, { ...stage, kind: "ended" });
}

/** Notes that the machine no longer has its results. */
export function noteFreed({ toFree, kept }: MachineState, key: string): void {
  const stage = (toFree.get(key) ?? kept.get(key))?.stage;
  if (stage?.kind !== "collected") return;
  stage.isThere = false;
  toFree.delete(key);
  kept.delete(key);
}

/** Allows the machines to remove the directories of these attempts. */
export function release(state: RunState, attempts: Iterable<Attempt>): void {
  for (const attempt of attempts) {
    const { stage } = attempt;
    if (stage.kind === "collected" && stage.isKept)
      setStage(state, toChange(state, attempt.machine), attempt, { ...stage, isKept: false });
  }
}

export function isToRetry(tracked: TrackedJob): boolean {
  return attemptsOf(tracked).some(({ stage }) => stage.kind === "collected" && stage.isToRetry);
}

/** None of the job's attempts causes a retry any more. */
export function settleRetry(state: RunState, tracked: TrackedJob): void {
  for (const attempt of attemptsOf(tracked)) {
    const { stage } = attempt;
    if (stage.kind === "collected" && stage.isToRetry)
      setStage(state, toChange(state, attempt.machine), attempt, { ...stage, isToRetry: false });
  }
}

function setFate(state: RunState, tracked: TrackedJob, fate: Fate): void {
  if (isToBegin(tracked, fate)) want(state, tracked, fate);
  else put(state, tracked, fate, null);
  passOn(state, tracked.job.id);
}

/** True if it begins as soon as it may, in this run or the next. */
function isToBegin({ isGone }: TrackedJob, { kind }: Fate): boolean {
  return kind === "waiting" || (kind === "dropped" && !isGone);
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
function passOn(state: RunState, first: JobId): void {
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

/** Adds a job that the state does not have yet. */
export function track(state: RunState, job: TrackedJob["job"]): TrackedJob {
  const tracked: TrackedJob = {
    job,
    fate: WAITING,
    earlier: NONE,
    lastNumber: 0,
    retries: 0,
    avoids: null,
    isReplaced: false,
    isGone: false,
    copy: null,
    after: null,
  };
  state.jobs.set(job.id, tracked);
  state.tally.waiting++;
  state.waiting.add(job.id);
  if (job.dependsOn !== undefined) relink(state, tracked);
  passOn(state, job.id);
  return tracked;
}

/** Removes a job whose attempts are all collected. The machines free what they still have of them. */
export function untrack(state: RunState, tracked: TrackedJob): void {
  settleRetry(state, tracked);
  release(state, attemptsOf(tracked));
  state.tally[phaseOf(tracked)]--;
  const { id } = tracked.job;
  for (const set of [state.waiting, state.held, state.stopping]) set.delete(id);
  state.jobs.delete(id);
  unlink(state.dependencies, id);
  state.dependencies.untold.delete(id);
  passOn(state, id);
}

function recount({ tally }: RunState, before: Phase, after: Phase): void {
  if (before === after) return;
  tally[before]--;
  tally[after]++;
}

function isCurrentOf({ fate }: TrackedJob, attempt: Attempt): boolean {
  return fate === attempt;
}
