// What a run knows beside its jobs and machines: what the user wants, what waits, and where to look next.

import { type BatchState, endingOf, type MachineState } from "../model/batch-state.js";
import type { Counts } from "../model/event.js";
import type { HaltRule } from "../model/halt-rule.js";
import { kindOf } from "../model/job.js";
import type { Stock } from "./stock.js";

/** What the user wants to happen when things go wrong. */
export interface Policy {
  /** How often a job is tried again whose machine went down with it. */
  readonly retries: number;
  /** Whether jobs that failed are tried again, too. */
  readonly retriesFailures: boolean;
  /** How long a machine may be away before others get what it had not begun; null: for ever. */
  readonly reassignAfterMs: number | null;
  /** When the run ends of itself; left out: never. */
  readonly halt?: HaltRule | null;
}

/** What counts for `--halt`. */
export interface Halting {
  /** Lines that ended in this run, for good. */
  readonly ended: Set<number>;
  failed: number;
  /** Had their results before this run: no share of them is asked for. */
  skipped: number;
  /** The rule that ended the run, unless the user did so since. */
  reached: HaltRule | null;
}

export interface RunState extends BatchState {
  readonly policy: Policy;
  readonly stock: Stock;
  /** Lines with this computer. */
  readonly waiting: Set<number>;
  /** Of the lines that need something else than the others do. */
  readonly kinds: Map<number, string>;
  firstReadyAt: number | null;
  /** More jobs may still come. */
  isMoreToCome: boolean;
  interrupted: "no" | "drain" | "stop";
  isPaused: boolean;
  halting: Halting;
}

export function machineOf(state: BatchState, name: string): MachineState {
  const machine = state.machines.get(name);
  if (machine === undefined) throw new Error(`no machine ${name} in this run`);
  return machine;
}

/** Every change of a machine begins here, so that the next decision looks at it. */
export function toChange(state: RunState, name: string): MachineState {
  const machine = machineOf(state, name);
  state.stock.changed.add(machine);
  return machine;
}

/** Which attempt of a line a machine has; the line's last one where it has none. */
export function attemptOn(state: BatchState, name: string, line: number): number {
  return machineOf(state, name).attempts.get(line)?.number ?? state.jobs.get(line)?.lastNumber ?? 0;
}

/** Whether news of this attempt matters: its results are wanted and not here yet. */
export function isUnderWay(state: BatchState, name: string, line: number, number: number): boolean {
  const attempt = machineOf(state, name).attempts.get(line);
  return attempt?.number === number && attempt.stage.kind !== "stuck" && attempt.stage.kind !== "unknown";
}

export function kindOfLine({ kinds }: RunState, line: number): string {
  return kinds.get(line) ?? kindOf(undefined);
}

export function countJobs({ tally, jobs }: BatchState): Counts {
  const { waiting, running, ended, unknown, succeeded, failed, stopped, lost, skipped } = tally;
  const counts = {
    succeeded,
    failed,
    stopped,
    lost,
    skipped,
    unfinished: waiting + running + ended + unknown,
  };
  if (skipped === 0) return counts;
  for (const { fate } of jobs.values()) {
    // Results without a record were put there by an older tool or by hand: they count as done.
    if (fate.kind === "skipped") counts[fate.outcome === null ? "succeeded" : endingOf(fate.outcome)]++;
  }
  return counts;
}
