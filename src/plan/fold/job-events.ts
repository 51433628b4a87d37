// Applies events about jobs that are not a machine's report of an attempt.

import type { MachineState, TrackedJob } from "../../model/batch-state.js";
import type { RunEvent } from "../../model/event.js";
import type { Job, JobId } from "../../model/job.js";
import { isStoppable, outcomeAtHome } from "../../model/standing.js";
import { sortWaiting } from "../halt.js";
import { lastKept } from "../kept-dirs.js";
import { kindOfJob, type RunState } from "../run-state.js";
import {
  assignTo,
  discard,
  drop,
  giveBack,
  isToRetry,
  overtake,
  setTraits,
  settleRetry,
} from "./attempts.js";
import { setJob } from "./edit-events.js";
import { WAITING } from "./fates.js";
import { shrink } from "./grow-events.js";
import { addJob } from "./initial-state.js";

type EventOf<K extends RunEvent["kind"]> = Extract<RunEvent, { kind: K }>;

/** A job that is known, and waits, is from now on as it is given. */
export function addJobs(state: RunState, jobs: readonly Job[]): void {
  for (const job of jobs) {
    const known = state.jobs.get(job.id);
    if (known !== undefined && known.fate.kind !== "waiting") continue;
    if (known !== undefined) setJob(state, known, job);
    giveBack(state, known ?? addJob(state, job));
  }
  if (jobs.some(({ priority }) => priority !== undefined)) sortWaiting(state);
}

/** In records without attempt numbers, assignments are counted. */
export function assign(state: RunState, machine: MachineState, event: EventOf<"jobs-assigned">): void {
  machine.hasSpool = true;
  event.jobs.forEach((id, index) => {
    const tracked = state.jobs.get(id);
    if (tracked === undefined) return;
    state.stopping.delete(id);
    const growth = state.grown.get(id);
    if (growth !== undefined) growth.prefers = null;
    dismiss(state, tracked);
    assignTo(state, machine, tracked, event.attempts?.[index] ?? tracked.lastNumber + 1);
  });
}

/** A record may lack the event that ended the earlier attempt. Its results stay if they were collected. */
function dismiss(state: RunState, tracked: TrackedJob): void {
  const { fate } = tracked;
  if (fate.kind !== "tried") return;
  if (fate.stage.kind === "collected") overtake(state, tracked, WAITING);
  else discard(state, tracked, fate);
}

/** Does not change a job that the record knows and that this run was not asked to run. */
export function skip(state: RunState, { job: id, outcome, isUnasked }: EventOf<"job-skipped">): void {
  state.halting.skipped++;
  const tracked = state.jobs.get(id);
  if (tracked === undefined || (isUnasked && outcomeAtHome(tracked) !== undefined)) return;
  overtake(state, tracked, { kind: "skipped", outcome });
}

/** The job's results were removed, or moved aside to run it again. */
export function reopen(state: RunState, { job: id, aside }: EventOf<"job-reopened">): void {
  const tracked = state.jobs.get(id);
  if (tracked === undefined) return;
  state.stopping.delete(id);
  // A client that was killed while it retried the job had moved its results already: the job still runs once more.
  if (!isToRetry(tracked)) shrink(state, tracked);
  state.excused.delete(id);
  noteMoved(tracked, aside);
  settleRetry(state, tracked);
  overtake(state, tracked, WAITING);
}

/** Does not change jobs that have ended. */
export function stopJobs(state: RunState, jobs: Iterable<JobId>): void {
  for (const id of jobs) {
    const tracked = state.jobs.get(id);
    if (tracked === undefined || !canBeStopped(tracked)) continue;
    state.stopping.add(id);
    if (tracked.fate.kind !== "tried") giveBack(state, tracked);
  }
}

/** A job that others block is stopped, too: otherwise it would matter which of both happened first. */
function canBeStopped(tracked: TrackedJob): boolean {
  const { kind } = tracked.fate;
  return isStoppable(tracked) || kind === "blocked" || kind === "unneeded";
}

export function resumeJobs(state: RunState, jobs: readonly JobId[]): void {
  for (const id of jobs) {
    state.stopping.delete(id);
    const tracked = state.jobs.get(id);
    if (tracked?.fate.kind === "stopped") giveBack(state, tracked);
  }
}

/**
 * The job has another command now. A queued attempt is taken back; if it has begun, its results are kept under another
 * name.
 */
export function replace(state: RunState, id: JobId): void {
  const tracked = state.jobs.get(id);
  if (tracked === undefined) return;
  setTraits(tracked, { isReplaced: true });
  overtake(state, tracked, WAITING);
}

/** Results in place are the last copy, unless a successful or later attempt made another copy. */
function noteMoved(tracked: TrackedJob, aside: string | undefined): void {
  if (tracked.traits.copy === tracked.job.name) setTraits(tracked, { copy: aside ?? null });
}

export function retry(state: RunState, { jobs, machine, asides }: EventOf<"jobs-retried">): void {
  for (const id of jobs) {
    const tracked = state.jobs.get(id);
    if (tracked === undefined) continue;
    settleRetry(state, tracked);
    if (!state.excused.delete(id)) setTraits(tracked, { retries: tracked.traits.retries + 1 });
    noteMoved(tracked, asides?.[id]);
    setTraits(tracked, { avoids: lastKept(tracked) === null ? machine : null });
    overtake(state, tracked, WAITING);
    giveBack(state, tracked);
  }
}

/** "stop" is never downgraded to "drain". */
export function interrupt(state: RunState, mode: "drain" | "stop"): void {
  if (state.interrupted !== "stop") state.interrupted = mode;
  if (mode === "stop") stopJobs(state, state.jobs.keys());
  for (const id of [...state.waiting, ...state.held]) giveBack(state, state.jobs.get(id) as TrackedJob);
}

/** Ends a drain but not a stop: the jobs that the drain held back wait again. */
export function undrain(state: RunState): void {
  if (state.interrupted !== "drain") return;
  state.interrupted = "no";
  for (const tracked of state.jobs.values()) if (tracked.fate.kind === "dropped") giveBack(state, tracked);
}

/** Drops jobs for which no machine has a suitable slot or can still get one. */
export function dropHomeless(state: RunState): void {
  const open = [...state.machines.values()].filter(
    ({ isOpen, phase }) => isOpen && phase !== "failed" && phase !== "done",
  );
  if (open.some(({ kinds }) => kinds.size === 0)) return;
  const served = new Set(open.flatMap(({ kinds }) => [...kinds]));
  for (const id of [...state.waiting]) {
    const kind = kindOfJob(state, id);
    if (served.has(kind)) continue;
    drop(state, state.jobs.get(id) as TrackedJob);
    if (!state.leftOut.has(id)) state.homeless.set(kind, (state.homeless.get(kind) ?? new Set()).add(id));
  }
}

export function leaveOut(state: RunState, { jobs, reasons }: EventOf<"jobs-left-out">): void {
  for (const id of jobs) {
    state.leftOut.set(id, reasons);
    state.homeless.delete(kindOfJob(state, id));
  }
}
