// What is known in a run, and how each event changes it. Mutated in place, since a batch may have 100,000 jobs;
// still no I/O, clock or randomness: the same events give the same state.

import type { Counts, RunEvent } from "../model/event.js";
import type { HaltRule } from "../model/halt-rule.js";
import { attemptKey, type Job, kindOf, type Outcome, succeeded } from "../model/job.js";
import { type Halting, newHalting, noteEnd, sortLines } from "./halt.js";
import { type MachineState, newMachine } from "./machine-state.js";
import { newStock, type Stock } from "./stock.js";

export type JobState =
  | { readonly kind: "waiting" }
  /** Results were there before this run. */
  | { readonly kind: "skipped"; readonly outcome: Outcome | null }
  /** Given to a machine, not begun. */
  | { readonly kind: "queued"; readonly machine: string }
  | { readonly kind: "running"; readonly machine: string; readonly slot: number }
  /** Its results are still over there. */
  | { readonly kind: "ended"; readonly machine: string; readonly outcome: Outcome }
  | { readonly kind: "collected"; readonly outcome: Outcome }
  /** Its machine failed while it had the job. */
  | { readonly kind: "unknown"; readonly machine: string }
  /** It ended, but its results cannot be taken from where they are. */
  | { readonly kind: "stuck"; readonly machine: string }
  /** Taken back when the user wanted no new jobs. */
  | { readonly kind: "dropped" };

/** One for all, since there may be very many. */
const WAITING: JobState = { kind: "waiting" };

/** What the user wants to happen when things go wrong. */
export interface Policy {
  /** How often a job is tried again whose machine went down with it. */
  readonly retries: number;
  /** Whether that goes for jobs that failed, too. */
  readonly retriesFailures: boolean;
  /** How long a machine may be away before others get what it had not begun; null: for ever. */
  readonly reassignAfterMs: number | null;
  /** When the run ends of itself; left out: never. */
  readonly halt?: HaltRule | null;
}

export interface RunState {
  readonly policy: Policy;
  readonly jobs: Map<number, JobState>;
  /** How often each line was assigned: the number of its current attempt. */
  readonly attempts: Map<number, number>;
  /** How often each line was tried again. */
  readonly retries: Map<number, number>;
  /** Where a line was last tried in vain: another machine is the better choice. */
  readonly avoids: Map<number, string>;
  readonly machines: Map<string, MachineState>;
  readonly stock: Stock;
  /** Lines that are another command now than what was begun of them. */
  readonly replaced: Set<number>;
  /** Lines with this computer. */
  readonly waiting: Set<number>;
  /** Of the lines that need something else than the others do. */
  readonly kinds: Map<number, string>;
  firstReadyAt: number | null;
  /** Jobs may still come that nobody knows of. */
  isMoreToCome: boolean;
  interrupted: "no" | "drain" | "stop";
  isPaused: boolean;
  halting: Halting;
}

export function initialState(jobs: readonly Job[], names: readonly string[], policy: Policy): RunState {
  const waiting = new Map<number, JobState>();
  for (const { line } of jobs) waiting.set(line, WAITING);
  const machines = new Map(names.map((name, order) => [name, newMachine(name, order)]));
  return {
    policy,
    jobs: waiting,
    attempts: new Map(),
    retries: new Map(),
    avoids: new Map(),
    replaced: new Set(),
    machines,
    stock: newStock(machines.values()),
    waiting: new Set(waiting.keys()),
    kinds: new Map(
      jobs.flatMap(({ line, requirement }) => (requirement ? [[line, kindOf(requirement)]] : [])),
    ),
    firstReadyAt: null,
    isMoreToCome: false,
    interrupted: "no",
    isPaused: false,
    halting: newHalting(),
  };
}

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
      toChange(state, event.machine).hasSpool = false;
      toChange(state, event.machine).toFree.clear();
      return setPhase(state, event.machine, "done");
    case "machine-failed":
      return failMachine(state, toChange(state, event.machine));
    case "machine-refused":
      toChange(state, event.machine).isOpen = false;
      for (const line of event.lines) giveBack(state, line);
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
    case "warning":
    case "run-ended":
      return;
    default:
      return event satisfies never;
  }
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

export function kindOfLine({ kinds }: RunState, line: number): string {
  return kinds.get(line) ?? kindOf(undefined);
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

/** A link that falls again before it was of use has been lost all the time. */
function loseMachine(machine: MachineState, at: number): void {
  if (machine.phase !== "lost") machine.lostAt = at;
  machine.phase = "lost";
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

function giveBack(state: RunState, line: number): void {
  setJob(state, line, state.interrupted === "no" ? WAITING : { kind: "dropped" });
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

type JobEvent = Extract<RunEvent, { kind: "job-started" | "job-ended" | "job-collected" | "job-stuck" }>;

function applyToJob(state: RunState, event: JobEvent): void {
  const { line } = event;
  const job = state.jobs.get(line);
  if (job === undefined) return;
  if (hasOlder(state, event.machine, line) || state.attempts.get(line) !== event.attempt)
    return applyToOrphan(state, event);
  if (job.kind === "ended" && event.kind === "job-collected") {
    const machine = toChange(state, job.machine);
    machine.toFree.add(attemptKey(line, event.attempt));
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
    machine.toFree.add(attemptKey(line, attempt));
    // What went down with a machine is no result while the job is tried elsewhere.
    if (stray.outcome.kind !== "lost") adopt(state, line, stray.outcome);
  }
}

/** Nobody else has got the line yet: it is the machine's again, and is not run a second time. */
function reclaim(state: RunState, machine: MachineState, line: number): boolean {
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

/** What it was given may have arrived, and may be running: nobody knows, so nobody else gets it. */
function failMachine(state: RunState, machine: MachineState): void {
  machine.phase = "failed";
  machine.isOpen = false;
  for (const line of [...machine.queued, ...machine.running, ...machine.ended]) {
    setJob(state, line, { kind: "unknown", machine: machine.name });
  }
}

function setJob(state: RunState, line: number, next: JobState): void {
  const before = state.jobs.get(line);
  if (before === undefined) return;
  state.waiting.delete(line);
  if ("machine" in before) {
    const { assigned, unsent, queued, running, ended, kept } = toChange(state, before.machine);
    for (const lines of [assigned, unsent, queued, running, ended, kept]) lines.delete(line);
  }
  state.jobs.set(line, next);
  if (next.kind === "waiting") state.waiting.add(line);
  if (next.kind === "queued" || next.kind === "running" || next.kind === "ended") {
    toChange(state, next.machine)[next.kind].add(line);
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

export function machineOf(state: RunState, name: string): MachineState {
  const machine = state.machines.get(name);
  if (machine === undefined) throw new Error(`no machine ${name} in this run`);
  return machine;
}

/** Whoever changes a machine takes it from here, so that the next decision looks at it. */
export function toChange(state: RunState, name: string): MachineState {
  const machine = machineOf(state, name);
  state.stock.changed.add(machine);
  return machine;
}

/** Which attempt of a line a machine has; the line's last one where it has none. */
export function attemptOn(state: RunState, name: string, line: number): number {
  const { orphans, begunOrphans, strays } = machineOf(state, name);
  const orphan = orphans.get(line) ?? begunOrphans.get(line) ?? strays.get(line)?.attempt;
  return orphan ?? state.attempts.get(line) ?? 0;
}

/** Whether an earlier attempt of a line may still be on a machine: until that is settled the line must not go there. */
export function hasOlder(state: RunState, name: string, line: number): boolean {
  const { orphans, begunOrphans, strays } = machineOf(state, name);
  return orphans.has(line) || begunOrphans.has(line) || strays.has(line);
}

/** Whether news of this attempt matters: its results are wanted and not here yet. */
export function isUnderWay(state: RunState, name: string, line: number, attempt: number): boolean {
  const job = state.jobs.get(line);
  if (job === undefined || attemptOn(state, name, line) !== attempt) return false;
  if (hasOlder(state, name, line)) return true;
  const isThere = job.kind === "queued" || job.kind === "running" || job.kind === "ended";
  return isThere && job.machine === name;
}

export function countJobs(state: RunState): Counts {
  const counts = { succeeded: 0, failed: 0, unfinished: 0, skipped: 0 };
  for (const job of state.jobs.values()) {
    if (job.kind === "skipped") counts.skipped++;
    if (job.kind !== "skipped" && job.kind !== "collected") counts.unfinished++;
    // Results without a record were put there by an older tool or by hand: they count as done.
    else counts[job.outcome === null || succeeded(job.outcome) ? "succeeded" : "failed"]++;
  }
  return counts;
}
