// What events about jobs change, apart from what a machine reports of an attempt.

import { isStoppable, type MachineState, outcomeAtHome, type TrackedJob } from "../../model/batch-state.js";
import type { RunEvent } from "../../model/event.js";
import type { Job, JobId } from "../../model/job.js";
import { lastKept } from "../kept-dirs.js";
import { kindOfJob, type RunState } from "../run-state.js";
import { assignTo, discard, drop, giveBack, overtake, settleRetry, WAITING } from "./attempts.js";
import { addJob } from "./initial-state.js";

type EventOf<K extends RunEvent["kind"]> = Extract<RunEvent, { kind: K }>;

export function addJobs(state: RunState, jobs: readonly Job[]): void {
  for (const job of jobs) {
    if (state.jobs.has(job.id)) continue;
    giveBack(state, addJob(state, job));
  }
}

/** Records of before attempts had numbers count them. */
export function assign(state: RunState, machine: MachineState, event: EventOf<"jobs-assigned">): void {
  machine.hasSpool = true;
  for (const [index, id] of event.jobs.entries()) {
    const tracked = state.jobs.get(id);
    if (tracked === undefined) continue;
    state.stopping.delete(id);
    dismiss(state, tracked);
    assignTo(state, machine, tracked, event.attempts?.[index] ?? tracked.lastNumber + 1);
  }
}

/** A record may lack what ended the attempt before; its results, if they are here, stay. */
function dismiss(state: RunState, tracked: TrackedJob): void {
  const { fate } = tracked;
  if (fate.kind !== "tried") return;
  if (fate.stage.kind === "collected") overtake(state, tracked, WAITING);
  else discard(state, tracked, fate);
}

/** One that this run was not asked to run, and that the record knows, stays as it is. */
export function skip(state: RunState, { job: id, outcome, isUnasked }: EventOf<"job-skipped">): void {
  state.halting.skipped++;
  const tracked = state.jobs.get(id);
  if (tracked === undefined || (isUnasked && outcomeAtHome(tracked) !== undefined)) return;
  overtake(state, tracked, { kind: "skipped", outcome });
}

/** Its results were removed, or moved aside to run it again. */
export function reopen(state: RunState, { job: id, aside }: EventOf<"job-reopened">): void {
  const tracked = state.jobs.get(id);
  if (tracked === undefined) return;
  state.stopping.delete(id);
  noteMoved(tracked, aside);
  settleRetry(state, tracked);
  overtake(state, tracked, WAITING);
}

/** Those that have ended stay as they are. */
export function stopJobs(state: RunState, jobs: Iterable<JobId>): void {
  for (const id of jobs) {
    const tracked = state.jobs.get(id);
    if (tracked === undefined || !isStoppable(tracked)) continue;
    state.stopping.add(id);
    if (tracked.fate.kind !== "tried") giveBack(state, tracked);
  }
}

export function resumeJobs(state: RunState, jobs: readonly JobId[]): void {
  for (const id of jobs) {
    state.stopping.delete(id);
    const tracked = state.jobs.get(id);
    if (tracked?.fate.kind === "stopped") giveBack(state, tracked);
  }
}

/** It is another command now: what is queued is taken back, or kept beside if it has begun. */
export function replace(state: RunState, id: JobId): void {
  const tracked = state.jobs.get(id);
  if (tracked === undefined) return;
  tracked.isReplaced = true;
  overtake(state, tracked, WAITING);
}

/** Results that are in place are the last copy, unless an attempt that succeeded or a later one made another. */
function noteMoved(tracked: TrackedJob, aside: string | undefined): void {
  if (tracked.copy === tracked.job.name) tracked.copy = aside ?? null;
}

export function retry(state: RunState, { jobs, machine, asides }: EventOf<"jobs-retried">): void {
  for (const id of jobs) {
    const tracked = state.jobs.get(id);
    if (tracked === undefined) continue;
    settleRetry(state, tracked);
    tracked.retries++;
    noteMoved(tracked, asides?.[id]);
    tracked.avoids = lastKept(tracked) === null ? machine : null;
    overtake(state, tracked, WAITING);
    giveBack(state, tracked);
  }
}

/** "stop" is never downgraded to "drain". */
export function interrupt(state: RunState, mode: "drain" | "stop"): void {
  if (state.interrupted !== "stop") state.interrupted = mode;
  if (mode === "stop") stopJobs(state, state.jobs.keys());
  for (const id of [...state.waiting]) giveBack(state, state.jobs.get(id) as TrackedJob);
}

/** Ends a drain, not a stop: what it left out waits again. */
export function undrain(state: RunState): void {
  if (state.interrupted !== "drain") return;
  state.interrupted = "no";
  for (const tracked of state.jobs.values()) if (tracked.fate.kind === "dropped") giveBack(state, tracked);
}

/** Drops jobs of a kind for which no machine has a slot or may have one. */
export function dropHomeless(state: RunState): void {
  const open = [...state.machines.values()].filter(
    ({ isOpen, phase }) => isOpen && phase !== "failed" && phase !== "done",
  );
  if (open.some(({ kinds }) => kinds.size === 0)) return;
  const served = new Set(open.flatMap(({ kinds }) => [...kinds]));
  for (const id of [...state.waiting])
    if (!served.has(kindOfJob(state, id))) drop(state, state.jobs.get(id) as TrackedJob);
}
