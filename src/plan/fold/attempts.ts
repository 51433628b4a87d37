// The only file that changes an attempt's stage, so that counts and indices stay correct.

import { ASSIGNED, type Attempt, type Stage } from "../../model/attempt.js";
import { attemptKey, rankIn } from "../../model/attempt-key.js";
import {
  type Fate,
  type MachineState,
  type TrackedJob,
  type Traits,
  USUAL_TRAITS,
} from "../../model/batch-state.js";
import { attemptsOf, phaseAt, phaseOf, runsOf, withAttempt } from "../../model/standing.js";
import { unlink } from "../dependencies.js";
import { type RunState, toChange } from "../run-state.js";
import { forget, list, unlist } from "./attempt-lists.js";
import { DROPPED, fateAtHome, passOn, recount, relink, setFate, WAITING } from "./fates.js";

/** Shared, because nearly all jobs have no attempt or one. */
const NONE: readonly Attempt[] = [];

/** Creates a new attempt, which replaces the job's earlier fate. */
export function assignTo(state: RunState, machine: MachineState, tracked: TrackedJob, number: number): void {
  const { id } = tracked.job;
  tracked.lastNumber = number;
  if (tracked.traits.isReplaced) setTraits(tracked, { isReplaced: false });
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
  if (tracked.traits.isGone && attemptsOf(tracked).every(({ stage }) => stage.kind === "collected"))
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
export function noteFreed({ toFree, kept }: MachineState, attempt: Attempt): void {
  const { stage } = attempt;
  if (stage.kind !== "collected") return;
  if (toFree.delete(attempt) || kept.delete(attemptKey(attempt))) stage.isThere = false;
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

/** Adds a job that the state does not have yet. */
export function track(state: RunState, job: TrackedJob["job"]): TrackedJob {
  const tracked: TrackedJob = {
    job,
    fate: WAITING,
    earlier: NONE,
    lastNumber: 0,
    traits: USUAL_TRAITS,
  };
  state.jobs.set(job.id, tracked);
  state.tally.waiting++;
  state.waiting.add(job.id);
  if (job.dependsOn !== undefined) relink(state, tracked);
  passOn(state, job.id);
  return tracked;
}

export function setTraits(tracked: TrackedJob, change: Partial<Traits>): void {
  tracked.traits = { ...tracked.traits, ...change };
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

function isCurrentOf({ fate }: TrackedJob, attempt: Attempt): boolean {
  return fate === attempt;
}
