// Decides when a run halts by itself (`--halt`), and what stops new jobs from beginning. Only jobs that end in this run
// count, so a halted batch can be resumed. A job that is retried counts once, at its last end.

import type { Attempt } from "../model/attempt.js";
import { rankOf } from "../model/attempt-key.js";
import type { Fate, TrackedJob } from "../model/batch-state.js";
import type { RunEvent } from "../model/event.js";
import { formatHaltRule, type HaltRule } from "../model/halt-rule.js";
import { type JobId, type Outcome, succeeded } from "../model/job.js";
import type { Halting, RunState } from "./run-state.js";

const NONE: ReadonlySet<Attempt> = new Set();

export function newHalting(): Halting {
  return { ended: new Set(), failed: 0, skipped: 0, reached: null, isForCrash: false };
}

/** True if no job may begin. Jobs that have not begun return to the client. */
export function startsNothing({ interrupted, isPaused }: RunState): boolean {
  return isPaused || interrupted !== "no";
}

/** A drain can be undone while a job runs or is about to begin. A drain by `--halt` would only start again. */
export function canContinue(state: RunState): boolean {
  const { interrupted, halting, tally } = state;
  return interrupted === "drain" && halting.reached === null && (tally.running > 0 || hasItsMachines(state));
}

/** True if there are open machines and the run has not finished with any of them. */
export function hasItsMachines({ machines }: RunState): boolean {
  const open = [...machines.values()].filter(({ isOpen }) => isOpen);
  return open.length > 0 && open.every(({ phase }) => phase !== "finishing" && phase !== "done");
}

/** The attempts whose jobs a user stopped. */
export function stoppingOf({ stopping }: RunState, attempts: ReadonlySet<Attempt>): ReadonlySet<Attempt> {
  return stopping.size === 0 ? NONE : new Set([...attempts].filter(({ job }) => stopping.has(job)));
}

/** Sorts by rank, because jobs return in any order. */
export function sortWaiting({ waiting, jobs }: RunState): void {
  const ranked = [...waiting].map((id) => ({ id, rank: rankOf((jobs.get(id) as TrackedJob).job) }));
  waiting.clear();
  for (const { id } of ranked.sort((one, other) => one.rank - other.rank)) waiting.add(id);
}

/** Counts a job that is not retried. Without a `--halt` rule there is nothing to count. */
export function noteEnd({ policy, halting }: RunState, id: JobId, outcome: Outcome): void {
  if (!policy.halt || halting.ended.has(id)) return;
  halting.ended.add(id);
  if (!succeeded(outcome)) halting.failed++;
}

/** A job that is retried after all has not ended. */
export function forgetEnd({ halting }: RunState, id: JobId): void {
  if (halting.ended.delete(id)) halting.failed--;
}

type Halted = Extract<RunEvent, { kind: "halted" }>;

/** The event to record when the rule is met; null if it is not met or the run is already ending. */
export function haltDue({ policy, halting, jobs, interrupted }: RunState): Omit<Halted, "at"> | null {
  const { halt = null } = policy;
  if (halt === null || interrupted !== "no") return null;
  const count = counted(halting, halt.why);
  if (!isMet(halt, count, jobs.size - halting.skipped)) return null;
  return { kind: "halted", when: halt.when, why: halt.why, count, rule: formatHaltRule(halt) };
}

function counted({ ended, failed }: Halting, why: HaltRule["why"]): number {
  if (why === "done") return ended.size;
  return why === "fail" ? failed : ended.size - failed;
}

/** A percentage refers to the jobs that this run had to do. 50% of five jobs are three. */
export function isMet({ amount, unit }: HaltRule, count: number, jobs: number): boolean {
  return unit === "jobs" ? count >= amount : count > 0 && count * 100 >= amount * jobs;
}

/**
 * True if a halted run did what its rule asked for. Jobs that were skipped or stopped because of the rule are no
 * failures then.
 */
export function isHaltedWell({ halting: { reached }, tally, jobs }: RunState): boolean {
  if (reached === null || reached.why === "fail") return false;
  if (reached.why === "success") return true;
  const { running, ended, failed, lost, unknown } = tally;
  if (running + ended + failed + lost + unknown > 0) return false;
  for (const { fate } of jobs.values()) if (!isFine(fate)) return false;
  return true;
}

/** True if the job never began, was skipped with success, or has ended. */
function isFine(fate: Fate): boolean {
  if (fate.kind === "skipped") return fate.outcome === null || isGood(fate.outcome);
  return fate.kind !== "waiting" && (fate.kind !== "tried" || fate.stage.kind === "collected");
}

function isGood(outcome: Outcome): boolean {
  return succeeded(outcome) || outcome.kind === "stopped";
}
