// Rebuilds the state of a batch from the record of its last client. Later events are in the event logs on the machines.

import { type Attempt, SENT } from "../../model/attempt.js";
import type { TrackedJob } from "../../model/batch-state.js";
import { countHeld } from "../../model/batch-times.js";
import type { RunEvent } from "../../model/event.js";
import type { JobId } from "../../model/job.js";
import { beginStretch, noteSign } from "../../model/life.js";
import { isReplayed } from "../../model/recorded.js";
import { attemptsOf } from "../../model/standing.js";
import { type RunState, toChange } from "../run-state.js";
import { applyRecorded } from "./apply.js";
import { makeCurrent, setStage, unstick, untrack } from "./attempts.js";
import { applyEdit, setJob } from "./edit-events.js";
import { stopJobs } from "./job-events.js";
import { setKeeping } from "./kept-events.js";
import type { Past } from "./read-past.js";

/** `state` must have every machine that the events name. */
export function replay(state: RunState, events: readonly RunEvent[]): void {
  // The jobs of the run that is replayed. The state also has the jobs of later runs.
  let known: JobId[] = [];
  let isStopped = false;
  for (const event of events) {
    if (event.kind === "run-started") {
      known = [];
      isStopped = false;
      replayStart(state, event);
      // The next client may have recorded this event before its own run began.
    } else if (event.kind !== "results-moved") noteSign(state.life, event.at);
    const added = event.kind === "run-started" || event.kind === "jobs-added" ? event.jobs : [];
    for (const { id } of added) known.push(id);
    if (isReplayed(event)) applyRecorded(state, event);
    isStopped ||= isStopOfAll(event);
    // A job that was about to be retried comes back after the stop.
    const comesBack = added.length > 0 || event.kind === "jobs-retried";
    if (isStopped && (comesBack || isStopOfAll(event))) stopJobs(state, known);
  }
  for (const name of state.machines.keys()) {
    const machine = toChange(state, name);
    Object.assign(machine, { phase: "new", isGivenUp: false });
    // Each new client tries it again.
    if (machine.isSetAside) Object.assign(machine, { isOpen: true, isSetAside: false });
    // The last client may have sent these jobs.
    for (const attempt of [...machine.current.assigned]) setStage(state, machine, attempt, SENT);
  }
  tryRests(state);
  tryStuckAgain(state);
}

/** A stop of all jobs matters to later clients; other interruptions end with their client. */
function isStopOfAll(event: RunEvent): boolean {
  return event.kind === "halted"
    ? event.when === "now"
    : event.kind === "interrupted" && event.mode === "stop";
}

/** The key of an attempt on a machine depends on the job as it was when it was assigned. */
function replayStart(state: RunState, event: Extract<RunEvent, { kind: "run-started" }>): void {
  const { at, jobs, edit, settings } = event;
  beginStretch(state.life, { at, jobs: jobs.length, held: countHeld(state) });
  tryStuckAgain(state);
  for (const job of jobs) {
    const tracked = state.jobs.get(job.id);
    if (tracked !== undefined) setJob(state, tracked, job);
  }
  if (edit !== undefined) applyEdit(state, edit);
  state.leftOut.clear();
  setKeeping(state, settings);
}

/** Each new client tries again. If it succeeds, the record has the collection. */
function tryStuckAgain(state: RunState): void {
  if ([...state.machines.values()].every(({ stuck }) => stuck === 0)) return;
  for (const tracked of state.jobs.values())
    for (const attempt of attemptsOf(tracked)) unstick(state, toChange(state, attempt.machine), attempt);
}

/** Results that an earlier client could not collect may be readable now. */
export function tryRests(state: RunState): void {
  for (const { name, rests } of state.machines.values())
    for (const key of rests.keys()) toChange(state, name).restsToTry.add(key);
}

const IS_WANTED: ReadonlySet<TrackedJob["fate"]["kind"]> = new Set(["waiting", "blocked", "unneeded"]);

/** A job that is no longer in the batch file stays only while a machine has something of it. */
export function forgetJobs(state: RunState, jobs: Iterable<JobId>): void {
  for (const id of jobs) {
    const tracked = state.jobs.get(id);
    if (tracked === undefined) continue;
    const left = attemptsOf(tracked).findLast(({ stage }) => stage.kind !== "collected");
    if (left === undefined) untrack(state, tracked);
    // The job does not run again, so its last attempt becomes current.
    else if (IS_WANTED.has(tracked.fate.kind)) makeCurrent(state, tracked, left);
  }
}

/** An attempt whose results an earlier client put into place, before it was killed and could record it; null: none. */
export function arrivedAttempt(tracked: TrackedJob, { arrived }: Past): Attempt | null {
  const isInPlace = ({ number, stage }: Attempt) =>
    stage.kind === "ended" && arrived.has(`${tracked.job.id} ${number}`);
  return attemptsOf(tracked).find(isInPlace) ?? null;
}

export function collectedNews(
  { job, number, machine, stage }: Attempt,
  { arrived }: Past,
): NewsOf<"job-collected"> {
  if (stage.kind !== "ended") throw new Error(`attempt ${number} of job ${job} has not ended`);
  const missing = arrived.get(`${job} ${number}`) ?? [];
  const rest = missing.length > 0 && { missing };
  const { outcome, footprint } = stage;
  const about = { job, attempt: number, machine, outcome, files: 0, bytes: 0 };
  return { kind: "job-collected", ...about, ...rest, ...(footprint && { footprint }) };
}

type NewsOf<K extends RunEvent["kind"]> = Omit<Extract<RunEvent, { kind: K }>, "at">;
