// The run as people see it: events folded into counts, machines and running jobs. It is changed in place,
// so that an event costs the same in a batch of ten jobs and of a hundred thousand.

import type { Incomplete, RunEvent } from "../model/event.js";
import type { Job, Outcome } from "../model/job.js";
import { shortCommand, succeeded } from "../model/job.js";
import { applyToMachine, type MachineView, newMachine } from "./machine-view.js";
import { lastSaid, printableStart } from "./printable.js";
import { haltedLine, pausedLine, STOPPING } from "./wording.js";

export interface ViewState {
  startedAt: number | null;
  lastEventAt: number;
  readonly jobs: Map<number, JobView>;
  /** By line, longest running first. */
  readonly running: Map<number, RunningJob>;
  readonly machines: Map<string, MachineView>;
  readonly tally: Tally;
  /** Results of which something stays on a machine; known when the run has ended. */
  incomplete: readonly Incomplete[];
  /** Of the jobs that ended in this run. */
  readonly durations: { totalMs: number; count: number };
  /** What is said at the bottom while no new job begins. */
  stopping: string | null;
  paused: string | null;
}

export interface JobView {
  readonly job: Job;
  /** The latest one known of. */
  attempt: number;
  phase: JobPhase;
}

type JobPhase =
  | { readonly kind: "waiting" }
  | { readonly kind: "running" }
  /** Its results are still on the machine. */
  | { readonly kind: "ended"; readonly machine: string; readonly outcome: Outcome }
  | { readonly kind: "collected"; readonly outcome: Outcome }
  | { readonly kind: "skipped"; readonly outcome: Outcome | null }
  /** Its machine was left out while it had the job. */
  | { readonly kind: "unknown" };

/** One for all, since there may be very many. */
const WAITING: JobPhase = { kind: "waiting" };
const RUNNING: JobPhase = { kind: "running" };

export interface RunningJob {
  readonly job: Job;
  readonly machine: string;
  readonly slot: number;
  readonly startedAt: number;
  /** Its last line of output, fit to show; until there is one, its command. */
  lastLine: string;
}

/** How many jobs are in each phase; collected ones told apart by how they ended. */
type Tally = Record<Exclude<JobPhase["kind"], "collected"> | "succeeded" | "failed", number>;

export function newView(machines: readonly string[]): ViewState {
  return {
    startedAt: null,
    lastEventAt: 0,
    jobs: new Map(),
    running: new Map(),
    machines: new Map(machines.map((name) => [name, newMachine(name)])),
    tally: { waiting: 0, running: 0, ended: 0, succeeded: 0, failed: 0, skipped: 0, unknown: 0 },
    incomplete: [],
    durations: { totalMs: 0, count: 0 },
    stopping: null,
    paused: null,
  };
}

/** False when the event told nothing new: after a lost link, slots tell again what they told before. */
export function applyToView(view: ViewState, event: RunEvent): boolean {
  view.lastEventAt = event.at;
  if ("line" in event) return applyToJob(view, event);
  if ("machine" in event) applyToMachine(machineOf(view, event.machine), event);
  if (event.kind === "run-started") view.startedAt = event.at;
  if (event.kind === "run-started" || event.kind === "jobs-added") addJobs(view, event.jobs);
  if (event.kind === "jobs-retried") for (const line of event.lines) waitAgain(view, line);
  if (event.kind === "jobs-assigned") for (const line of event.lines) nextAttempt(view, line);
  if (event.kind === "run-resumed") noteHeld(view, event);
  if (event.kind === "machine-failed") loseSight(view, machineOf(view, event.machine));
  if (event.kind === "interrupted") view.stopping = STOPPING[event.mode];
  if (event.kind === "halted") view.stopping = haltedLine(event);
  if (event.kind === "paused") view.paused = pausedLine(event);
  if (event.kind === "continued") view.paused = null;
  if (event.kind === "run-ended") view.incomplete = event.incomplete ?? [];
  return true;
}

type EventOf<K extends RunEvent["kind"]> = Extract<RunEvent, { readonly kind: K }>;

function addJobs(view: ViewState, jobs: readonly Job[]): void {
  for (const job of jobs) {
    if (view.jobs.has(job.line)) continue;
    view.jobs.set(job.line, { job, attempt: 0, phase: WAITING });
    view.tally.waiting += 1;
  }
}

function nextAttempt(view: ViewState, line: number): void {
  const known = view.jobs.get(line);
  if (known !== undefined) beginAttempt(view, known, known.attempt + 1);
}

function waitAgain(view: ViewState, line: number): void {
  const known = view.jobs.get(line);
  if (known !== undefined) setPhase(view, known, WAITING);
}

function beginAttempt(view: ViewState, known: JobView, attempt: number): void {
  known.attempt = attempt;
  leaveSlot(view, known.job.line);
  setPhase(view, known, WAITING);
}

function noteHeld(view: ViewState, { held }: EventOf<"run-resumed">): void {
  for (const [name, lines] of Object.entries(held))
    for (const line of lines) machineOf(view, name).jobs.add(line);
}

function loseSight(view: ViewState, machine: MachineView): void {
  for (const line of machine.jobs) {
    const known = view.jobs.get(line);
    if (known === undefined) continue;
    leaveSlot(view, line);
    setPhase(view, known, { kind: "unknown" });
  }
  machine.jobs.clear();
}

function applyToJob(view: ViewState, event: Extract<RunEvent, { readonly line: number }>): boolean {
  const known = view.jobs.get(event.line);
  if (known === undefined) return false;
  if (event.kind === "job-skipped") setPhase(view, known, { kind: "skipped", outcome: event.outcome });
  else if (event.kind === "job-said") noteLastLine(view, event);
  else if (!isBeside(event)) return applyToAttempt(view, known, event);
  return true;
}

type BesideEvent = EventOf<"job-output" | "output-restarted" | "rest-collected">;

/** It changes no phase. */
function isBeside(event: RunEvent): event is BesideEvent {
  return event.kind === "job-output" || event.kind === "output-restarted" || event.kind === "rest-collected";
}

function noteLastLine(view: ViewState, event: EventOf<"job-said">): void {
  const running = view.running.get(event.line);
  if (running !== undefined) running.lastLine = lastSaid(event.text);
}

/** How far on its way an attempt is in each phase: news of it is what takes it further. */
const PROGRESS = { waiting: 0, unknown: 0, running: 1, ended: 2, collected: 3, skipped: 3 } as const;

type AttemptEvent = EventOf<"job-started" | "job-ended" | "job-collected" | "job-stuck">;

function applyToAttempt(view: ViewState, known: JobView, event: AttemptEvent): boolean {
  if (event.attempt < known.attempt) return adopt(view, known, event);
  if (event.attempt > known.attempt) beginAttempt(view, known, event.attempt);
  const progress = PROGRESS[known.phase.kind];
  switch (event.kind) {
    case "job-started":
      if (progress < PROGRESS.running) startJob(view, known, event);
      return progress < PROGRESS.running;
    case "job-ended":
      if (progress < PROGRESS.ended) endJob(view, known, event);
      return progress < PROGRESS.ended;
    case "job-collected":
      if (known.phase.kind !== "ended") return false;
      machineOf(view, known.phase.machine).jobs.delete(event.line);
      setPhase(view, known, { kind: "collected", outcome: known.phase.outcome });
      return true;
    case "job-stuck":
      return true;
    default:
      return event satisfies never;
  }
}

/** An earlier attempt that was given up came home first: its result is the one that counts. */
function adopt(view: ViewState, known: JobView, event: AttemptEvent): boolean {
  if (event.kind !== "job-collected" || PROGRESS[known.phase.kind] === PROGRESS.collected) return false;
  leaveSlot(view, event.line);
  setPhase(view, known, { kind: "collected", outcome: event.outcome });
  return true;
}

function startJob(view: ViewState, known: JobView, event: EventOf<"job-started">): void {
  const { line, machine, slot, at } = event;
  const lastLine = printableStart(shortCommand(known.job));
  view.running.set(line, { job: known.job, machine, slot, startedAt: at, lastLine });
  const place = machineOf(view, machine);
  place.jobs.add(line);
  place.busy.set(slot, line);
  place.held.delete(slot);
  setPhase(view, known, RUNNING);
}

function endJob(view: ViewState, known: JobView, event: EventOf<"job-ended">): void {
  leaveSlot(view, event.line);
  machineOf(view, event.machine).jobs.add(event.line);
  view.durations.totalMs += event.durationMs;
  view.durations.count += 1;
  setPhase(view, known, { kind: "ended", machine: event.machine, outcome: event.outcome });
}

function leaveSlot(view: ViewState, line: number): void {
  const running = view.running.get(line);
  if (running === undefined) return;
  const { busy } = machineOf(view, running.machine);
  if (busy.get(running.slot) === line) busy.delete(running.slot);
  view.running.delete(line);
}

function setPhase(view: ViewState, known: JobView, phase: JobPhase): void {
  view.tally[countedAs(known.phase)] -= 1;
  view.tally[countedAs(phase)] += 1;
  known.phase = phase;
}

function countedAs(phase: JobPhase): keyof Tally {
  if (phase.kind !== "collected") return phase.kind;
  return succeeded(phase.outcome) ? "succeeded" : "failed";
}

function machineOf(view: ViewState, name: string): MachineView {
  const known = view.machines.get(name);
  if (known !== undefined) return known;
  const added = newMachine(name);
  view.machines.set(name, added);
  return added;
}
