// How each event changes what is known in a run. No I/O, clock or randomness: the same events give the same state.

import type { RunEvent } from "../model/event.js";
import { type Job, kindOf } from "../model/job.js";
import { newHalting, sortLines } from "./halt.js";
import { applyToJob, reclaim, release } from "./job-events.js";
import type { MachineState } from "./machine-state.js";
import { giveBack, kindOfLine, type RunState, setJob, toChange, WAITING } from "./run-state.js";

export function apply(state: RunState, event: RunEvent): void {
  applyRecorded(state, event);
  if (state.kinds.size > 0 && state.waiting.size > 0 && event.kind !== "job-said") dropHomeless(state);
}

/** For what happened in an earlier run, whose machines are not those of this one. */
export function applyRecorded(state: RunState, event: RunEvent): void {
  switch (event.kind) {
    case "jobs-added":
      return addJobs(state, event.jobs);
    case "jobs-complete":
      state.isMoreToCome = false;
      return;
    case "job-skipped":
      state.halting.skipped++;
      return setJob(state, event.line, { kind: "skipped", outcome: event.outcome });
    case "machine-ready":
      state.firstReadyAt ??= event.at;
      toChange(state, event.machine).slots = event.slots.length;
      toChange(state, event.machine).kinds = new Set(event.slots.map((slot) => kindOf(slot.requirement)));
      toChange(state, event.machine).isGivenUp = false;
      return setPhase(state, event.machine, "ready");
    case "machine-back":
      toChange(state, event.machine).isGivenUp = false;
      return setPhase(state, event.machine, "ready");
    case "machine-lost":
      return loseMachine(toChange(state, event.machine), event.at);
    case "machine-done":
      // Results that could not be taken are still there.
      toChange(state, event.machine).hasSpool = holdsResults(toChange(state, event.machine));
      toChange(state, event.machine).toFree.clear();
      return setPhase(state, event.machine, "done");
    case "machine-failed":
      return failMachine(state, toChange(state, event.machine));
    case "machine-refused":
      toChange(state, event.machine).isOpen = false;
      for (const line of event.lines) if (isQueuedOn(state, event.machine, line)) giveBack(state, line);
      return;
    case "machine-draining":
      toChange(state, event.machine).isOpen = false;
      return;
    case "machine-opened":
      toChange(state, event.machine).isOpen = true;
      return;
    case "jobs-assigned":
      return assign(state, event.machine, event.lines);
    case "jobs-handed-over":
      return noteArrived(toChange(state, event.machine), event.lines);
    case "jobs-taken-back":
      return takeBack(state, toChange(state, event.machine), event);
    case "jobs-reassigned":
      return reassign(state, toChange(state, event.machine), event.lines);
    case "jobs-retried":
      for (const line of event.lines) retry(state, event.machine, line);
      return;
    case "job-started":
    case "job-ended":
    case "job-collected":
    case "job-stuck":
      return applyToJob(state, event);
    case "rest-collected":
      return release(toChange(state, event.machine), event);
    case "interrupted":
      state.halting.reached = null;
      return interrupt(state, event.mode);
    case "halted":
      state.halting.reached = state.policy.halt ?? null;
      return interrupt(state, event.when === "now" ? "stop" : "drain");
    case "paused":
      state.isPaused = true;
      return;
    case "continued":
      state.isPaused = false;
      return sortLines(state.waiting);
    case "run-started":
      state.halting = newHalting();
      return;
    case "run-resumed":
    case "tree-read":
    case "staging":
    case "staged":
    case "collecting":
    case "jobs-arrived":
    case "slot-waiting":
    case "job-said":
    case "job-output":
    case "output-restarted":
    case "warning":
    case "run-ended":
      return;
    default:
      return event satisfies never;
  }
}

/** What was given once more, since nobody knew that it had arrived, may have ended meanwhile. */
function isQueuedOn({ jobs }: RunState, machine: string, line: number): boolean {
  const job = jobs.get(line);
  return job?.kind === "queued" && job.machine === machine;
}

/** One that is there already stays as it is. */
function addJobs(state: RunState, jobs: readonly Job[]): void {
  for (const { line, requirement } of jobs) {
    if (state.jobs.has(line)) continue;
    if (requirement !== undefined) state.kinds.set(line, kindOf(requirement));
    state.jobs.set(line, WAITING);
    giveBack(state, line);
  }
}

/** Jobs of a kind for which no machine has, or may have, a slot: nobody waits for them. */
function dropHomeless(state: RunState): void {
  const open = [...state.machines.values()].filter(
    ({ isOpen, phase }) => isOpen && phase !== "failed" && phase !== "done",
  );
  if (open.some(({ kinds }) => kinds.size === 0)) return;
  const served = new Set(open.flatMap(({ kinds }) => [...kinds]));
  for (const line of [...state.waiting])
    if (!served.has(kindOfLine(state, line))) setJob(state, line, { kind: "dropped" });
}

function holdsResults({ ended, strays, rests }: MachineState): boolean {
  return ended.size + strays.size + rests.size > 0;
}

/** A link that falls again before it was of use has been lost all the time. */
function loseMachine(machine: MachineState, at: number): void {
  if (machine.phase !== "lost") machine.lostAt = at;
  machine.phase = "lost";
  // What was being asked for did not come.
  for (const key of machine.rests.keys()) machine.restsToTry.add(key);
}

function setPhase(state: RunState, name: string, phase: MachineState["phase"]): void {
  toChange(state, name).phase = phase;
}

function assign(state: RunState, name: string, lines: readonly number[]): void {
  const machine = toChange(state, name);
  machine.hasSpool = true;
  for (const line of lines) {
    if (!state.jobs.has(line)) continue;
    setJob(state, line, { kind: "queued", machine: name });
    machine.assigned.add(line);
    machine.unsent.add(line);
    state.attempts.set(line, (state.attempts.get(line) ?? 0) + 1);
  }
}

function noteArrived({ assigned, unsent }: MachineState, lines: readonly number[]): void {
  for (const line of lines) {
    assigned.delete(line);
    unsent.delete(line);
  }
}

/** Whoever wants running jobs stopped does not change his mind by wanting no new ones. */
function interrupt(state: RunState, mode: "drain" | "stop"): void {
  if (state.interrupted !== "stop") state.interrupted = mode;
  state.isMoreToCome = false;
  for (const line of [...state.waiting]) giveBack(state, line);
}

type TakenBack = Extract<RunEvent, { kind: "jobs-taken-back" }>;

function takeBack(state: RunState, machine: MachineState, { lines, begun }: TakenBack): void {
  const { name, orphans, begunOrphans, kept } = machine;
  for (const line of lines) {
    if (orphans.delete(line)) continue;
    const job = state.jobs.get(line);
    if (job?.kind === "queued" && job.machine === name) giveBack(state, line);
  }
  for (const line of begun) {
    const attempt = orphans.get(line);
    if (attempt === undefined || reclaim(state, machine, line)) kept.add(line);
    else begunOrphans.set(line, attempt);
    orphans.delete(line);
  }
}

/** Should the machine come back, these attempts are orphans there: taken back, or kept beside if they were begun. */
function reassign(state: RunState, machine: MachineState, lines: readonly number[]): void {
  machine.isGivenUp = true;
  for (const line of lines) {
    machine.orphans.set(line, state.attempts.get(line) ?? 0);
    giveBack(state, line);
  }
}

function retry(state: RunState, name: string, line: number): void {
  toChange(state, name).toRetry.delete(line);
  state.retries.set(line, (state.retries.get(line) ?? 0) + 1);
  state.avoids.set(line, name);
  giveBack(state, line);
}

/** What it was given may have arrived, and may be running: nobody knows, so nobody else gets it. */
function failMachine(state: RunState, machine: MachineState): void {
  machine.phase = "failed";
  machine.isOpen = false;
  for (const line of [...machine.queued, ...machine.running, ...machine.ended]) {
    setJob(state, line, { kind: "unknown", machine: machine.name });
  }
}

/** The line is another command now: what is queued is taken back, or kept beside if it was begun. */
export function replaceQueued(state: RunState, line: number): void {
  const job = state.jobs.get(line);
  if (job?.kind !== "queued") return;
  toChange(state, job.machine).orphans.set(line, state.attempts.get(line) ?? 0);
  state.replaced.add(line);
  setJob(state, line, WAITING);
}

/** Lines that are no longer in the batch file stay only while something of them is on a machine. */
export function forgetLines(state: RunState, lines: Iterable<number>): void {
  for (const line of lines) {
    const kind = state.jobs.get(line)?.kind;
    if (kind === "queued" || kind === "running" || kind === "ended") continue;
    setJob(state, line, { kind: "dropped" });
    state.jobs.delete(line);
  }
}

/** The user removed its results, or wants it run again. */
export function forgetResult(state: RunState, line: number): void {
  for (const { name, toRetry } of state.machines.values())
    if (toRetry.has(line)) toChange(state, name).toRetry.delete(line);
  setJob(state, line, WAITING);
}
