// What news of one attempt changes: of the one that counts, and of earlier ones that were given up and ran all the same.

import type { Incomplete, RunEvent } from "../model/event.js";
import { attemptKey, type Outcome, succeeded } from "../model/job.js";
import { noteEnd } from "./halt.js";
import type { MachineState } from "./machine-state.js";
import { attemptOn, hasOlder, type RunState, setJob, toChange } from "./run-state.js";

export type JobEvent = Extract<
  RunEvent,
  { kind: "job-started" | "job-ended" | "job-collected" | "job-stuck" }
>;

export function applyToJob(state: RunState, event: JobEvent): void {
  const { line } = event;
  const job = state.jobs.get(line);
  if (job === undefined) return;
  if (hasOlder(state, event.machine, line) || state.attempts.get(line) !== event.attempt)
    return applyToOrphan(state, event);
  if (job.kind === "ended" && event.kind === "job-collected") {
    const machine = toChange(state, job.machine);
    release(machine, event);
    setJob(state, line, { kind: "collected", outcome: job.outcome });
    if (isWorthRetrying(state, line, job.outcome)) machine.toRetry.add(line);
  } else if (job.kind === "ended" && event.kind === "job-stuck") {
    toChange(state, job.machine).hasStuck = true;
    setJob(state, line, { kind: "stuck", machine: job.machine });
  } else if (job.kind === "queued" || job.kind === "running") {
    const { machine } = job;
    if (event.kind === "job-started") setJob(state, line, { kind: "running", machine, slot: event.slot });
    if (event.kind === "job-ended") {
      setJob(state, line, { kind: "ended", machine, outcome: event.outcome });
      if (!isWorthRetrying(state, line, event.outcome)) noteEnd(state.halting, line, event.outcome);
    }
  }
}

/** What is missing here must not be removed there. */
export function release(
  { rests, restsToTry, toFree }: MachineState,
  { line, attempt, machine, missing = [] }: Omit<Incomplete, "missing"> & Partial<Incomplete>,
): void {
  const key = attemptKey(line, attempt);
  restsToTry.delete(key);
  if (missing.length > 0) rests.set(key, { line, attempt, machine, missing });
  else {
    rests.delete(key);
    toFree.add(key);
  }
}

function isWorthRetrying(
  { policy, retries, interrupted }: RunState,
  line: number,
  outcome: Outcome,
): boolean {
  if (interrupted !== "no" || succeeded(outcome) || outcome.kind === "stopped") return false;
  return (outcome.kind === "lost" || policy.retriesFailures) && (retries.get(line) ?? 0) < policy.retries;
}

/** An earlier attempt that ran all the same: the first result that comes home counts, whichever it is. */
function applyToOrphan(state: RunState, event: JobEvent): void {
  const machine = toChange(state, event.machine);
  const { line, attempt } = event;
  if (event.kind === "job-started" || event.kind === "job-ended") {
    if (machine.orphans.get(line) !== attempt && machine.begunOrphans.get(line) !== attempt) return;
    if (reclaim(state, machine, line)) return applyToJob(state, event);
    if (event.kind === "job-started") return;
    machine.orphans.delete(line);
    machine.begunOrphans.delete(line);
    machine.strays.set(line, { attempt, outcome: event.outcome });
    return;
  }
  const stray = machine.strays.get(line);
  if (stray?.attempt !== attempt) return;
  machine.strays.delete(line);
  if (event.kind === "job-stuck") machine.hasStuck = true;
  else {
    release(machine, event);
    // What went down with a machine is no result while the job is tried elsewhere.
    if (stray.outcome.kind !== "lost") adopt(state, line, stray.outcome);
  }
}

/** Nobody else has got the line yet: it is the machine's again, and is not run a second time. */
export function reclaim(state: RunState, machine: MachineState, line: number): boolean {
  const { orphans, begunOrphans, name } = machine;
  const kind = state.jobs.get(line)?.kind;
  const isFree = (kind === "waiting" || kind === "dropped") && !state.replaced.has(line);
  if (!isFree || attemptOn(state, name, line) !== state.attempts.get(line)) return false;
  orphans.delete(line);
  begunOrphans.delete(line);
  setJob(state, line, { kind: "queued", machine: name });
  return true;
}

function adopt(state: RunState, line: number, outcome: Outcome): void {
  const job = state.jobs.get(line);
  if (job === undefined || job.kind === "collected" || job.kind === "skipped") return;
  const current = state.attempts.get(line) ?? 0;
  if (job.kind === "queued") toChange(state, job.machine).orphans.set(line, current);
  if (job.kind === "running") toChange(state, job.machine).begunOrphans.set(line, current);
  if (job.kind === "ended")
    toChange(state, job.machine).strays.set(line, { attempt: current, outcome: job.outcome });
  setJob(state, line, { kind: "collected", outcome });
  noteEnd(state.halting, line, outcome);
  // The other attempt is an orphan from now on: its number must not be the current one.
  state.attempts.set(line, current + 1);
}
