// What is known in a run: the jobs, the machines and where each job is. Mutated in place, since a batch may have 100,000 jobs.

import type { Counts } from "../model/event.js";
import type { HaltRule } from "../model/halt-rule.js";
import { type Job, kindOf, type Outcome, succeeded } from "../model/job.js";
import { type Halting, newHalting } from "./halt.js";
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
export const WAITING: JobState = { kind: "waiting" };

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
  /** Since when some machine could do with more. */
  dryAt: number | null;
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
    dryAt: null,
    isMoreToCome: false,
    interrupted: "no",
    isPaused: false,
    halting: newHalting(),
  };
}

export function setJob(state: RunState, line: number, next: JobState): void {
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

export function giveBack(state: RunState, line: number): void {
  setJob(state, line, state.interrupted === "no" ? WAITING : { kind: "dropped" });
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

export function kindOfLine({ kinds }: RunState, line: number): string {
  return kinds.get(line) ?? kindOf(undefined);
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
