// What is known in a run, and how each event changes it. Mutated in place, since a batch may have 100,000 jobs;
// still no I/O, clock or randomness: the same events give the same state.

import type { Counts, RunEvent } from "../model/event.js";
import { attemptKey, type Job, type Outcome, succeeded } from "../model/job.js";
import type { DecisionKind } from "./decide.js";

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

export interface MachineState {
  readonly name: string;
  phase: "new" | "connecting" | "ready" | "lost" | "finishing" | "done" | "failed";
  slots: number;
  /** It may be given jobs. */
  isOpen: boolean;
  /** At least one job went there: there is a spool to clean. */
  hasSpool: boolean;
  /** Results stay there that could not be taken: nothing is cleaned. */
  hasStuck: boolean;
  /** Verbs under way; one of each kind at a time. */
  readonly busy: Set<DecisionKind>;
  /** Of the queued lines: those not known to have arrived. */
  readonly assigned: Set<number>;
  readonly queued: Set<number>;
  readonly running: Set<number>;
  readonly ended: Set<number>;
  /** Keys of what is collected and may be removed over there. */
  readonly toFree: Set<string>;
  /** Running lines that were told to stop. */
  readonly stopped: Set<number>;
}

export interface RunState {
  readonly jobs: Map<number, JobState>;
  /** How often each line was assigned: the number of its current attempt. */
  readonly attempts: Map<number, number>;
  readonly machines: Map<string, MachineState>;
  /** Lines with this computer, in file order. */
  readonly waiting: Set<number>;
  interrupted: "no" | "drain" | "stop";
}

export function initialState(jobs: readonly Job[], machines: readonly string[]): RunState {
  return {
    jobs: new Map(jobs.map(({ line }) => [line, { kind: "waiting" }])),
    attempts: new Map(),
    machines: new Map(machines.map((name) => [name, newMachine(name)])),
    waiting: new Set(jobs.map(({ line }) => line)),
    interrupted: "no",
  };
}

function newMachine(name: string): MachineState {
  const sets = { assigned: new Set<number>(), queued: new Set<number>(), running: new Set<number>() };
  const more = { ended: new Set<number>(), toFree: new Set<string>(), stopped: new Set<number>() };
  const facts = { phase: "new" as const, slots: 0, isOpen: true, hasSpool: false, hasStuck: false };
  return { name, ...facts, busy: new Set(), ...sets, ...more };
}

export function apply(state: RunState, event: RunEvent): void {
  switch (event.kind) {
    case "job-skipped":
      return setJob(state, event.line, { kind: "skipped", outcome: event.outcome });
    case "machine-ready":
      machineOf(state, event.machine).slots = event.slots.length;
      return setPhase(state, event.machine, "ready");
    case "machine-back":
      return setPhase(state, event.machine, "ready");
    case "machine-lost":
      return setPhase(state, event.machine, "lost");
    case "machine-done":
      machineOf(state, event.machine).hasSpool = false;
      machineOf(state, event.machine).toFree.clear();
      return setPhase(state, event.machine, "done");
    case "machine-failed":
      return failMachine(state, machineOf(state, event.machine));
    case "machine-refused":
      machineOf(state, event.machine).isOpen = false;
      for (const line of event.lines) giveBack(state, line);
      return;
    case "jobs-assigned":
      return assign(state, event.machine, event.lines);
    case "jobs-handed-over":
      for (const line of event.lines) machineOf(state, event.machine).assigned.delete(line);
      return;
    case "jobs-taken-back":
      for (const line of event.lines) giveBack(state, line);
      return;
    case "job-started":
    case "job-ended":
    case "job-collected":
    case "job-stuck":
      return applyToAttempt(state, event);
    case "interrupted":
      state.interrupted = event.mode;
      for (const line of [...state.waiting]) giveBack(state, line);
      return;
    case "run-started":
    case "run-resumed":
    case "tree-read":
    case "staging":
    case "staged":
    case "jobs-arrived":
    case "slot-waiting":
    case "job-said":
    case "warning":
    case "run-ended":
      return;
    default:
      return event satisfies never;
  }
}

function setPhase(state: RunState, name: string, phase: MachineState["phase"]): void {
  machineOf(state, name).phase = phase;
}

function assign(state: RunState, name: string, lines: readonly number[]): void {
  const machine = machineOf(state, name);
  machine.hasSpool = true;
  for (const line of lines) {
    setJob(state, line, { kind: "queued", machine: name });
    machine.assigned.add(line);
    state.attempts.set(line, (state.attempts.get(line) ?? 0) + 1);
  }
}

function giveBack(state: RunState, line: number): void {
  setJob(state, line, { kind: state.interrupted === "no" ? "waiting" : "dropped" });
}

type AttemptEvent = Extract<RunEvent, { kind: "job-started" | "job-ended" | "job-collected" | "job-stuck" }>;

/** News of an earlier attempt changes nothing: another one has taken its place. */
function applyToAttempt(state: RunState, event: AttemptEvent): void {
  const job = state.jobs.get(event.line);
  if (job === undefined || state.attempts.get(event.line) !== event.attempt) return;
  const { line } = event;
  if (job.kind === "ended" && event.kind === "job-collected") {
    machineOf(state, job.machine).toFree.add(attemptKey(line, event.attempt));
    setJob(state, line, { kind: "collected", outcome: job.outcome });
  } else if (job.kind === "ended" && event.kind === "job-stuck") {
    machineOf(state, job.machine).hasStuck = true;
    setJob(state, line, { kind: "stuck", machine: job.machine });
  } else if (job.kind === "queued" || job.kind === "running") {
    const { machine } = job;
    if (event.kind === "job-started") setJob(state, line, { kind: "running", machine, slot: event.slot });
    if (event.kind === "job-ended") setJob(state, line, { kind: "ended", machine, outcome: event.outcome });
  }
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
    const { assigned, queued, running, ended } = machineOf(state, before.machine);
    for (const lines of [assigned, queued, running, ended]) lines.delete(line);
  }
  state.jobs.set(line, next);
  if (next.kind === "waiting") state.waiting.add(line);
  if (next.kind === "queued" || next.kind === "running" || next.kind === "ended") {
    machineOf(state, next.machine)[next.kind].add(line);
  }
}

/** The user removed its results: it is to be run again. */
export function forgetResult(state: RunState, line: number): void {
  setJob(state, line, { kind: "waiting" });
}

export function machineOf(state: RunState, name: string): MachineState {
  const machine = state.machines.get(name);
  if (machine === undefined) throw new Error(`no machine ${name} in this run`);
  return machine;
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
