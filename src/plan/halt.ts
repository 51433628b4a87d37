// When a run halts of itself (`--halt`), and what keeps new jobs from beginning. Only what ends in this run counts, so that
// a batch that was halted can go on; a job that is tried again counts when it is given up.

import type { Attempt } from "../model/attempt.js";
import { rankOf } from "../model/attempt-key.js";
import type { Fate, TrackedJob } from "../model/batch-state.js";
import type { RunEvent } from "../model/event.js";
import { formatHaltRule, type HaltRule } from "../model/halt-rule.js";
import { type JobId, type Outcome, succeeded } from "../model/job.js";
import type { Halting, RunState } from "./run-state.js";

export function newHalting(): Halting {
  return { ended: new Set(), failed: 0, skipped: 0, reached: null };
}

/** No job is to begin: those that nobody has begun come back. */
export function startsNothing({ interrupted, isPaused }: RunState): boolean {
  return isPaused || interrupted !== "no";
}

/** A drain can be undone while something runs, or is about to. That of `--halt` would only begin again. */
export function canContinue(state: RunState): boolean {
  const { interrupted, halting, tally } = state;
  return interrupted === "drain" && halting.reached === null && (tally.running > 0 || hasItsMachines(state));
}

/** Machines can take jobs, and none that could has been left. */
export function hasItsMachines({ machines }: RunState): boolean {
  const open = [...machines.values()].filter(({ isOpen }) => isOpen);
  return open.length > 0 && open.every(({ phase }) => phase !== "finishing" && phase !== "done");
}

/** Of these attempts, those whose jobs a user stopped. */
export function stoppingOf({ stopping }: RunState, attempts: Iterable<Attempt>): Attempt[] {
  return stopping.size === 0 ? [] : [...attempts].filter(({ job }) => stopping.has(job));
}

/** By rank, in whichever order they came back. */
export function sortWaiting({ waiting, jobs }: RunState): void {
  const ranked = [...waiting].map((id) => ({ id, rank: rankOf((jobs.get(id) as TrackedJob).job) }));
  waiting.clear();
  for (const { id } of ranked.sort((one, other) => one.rank - other.rank)) waiting.add(id);
}

/** Of a job that is not tried again. Without a rule there is nothing to count. */
export function noteEnd({ policy, halting }: RunState, id: JobId, outcome: Outcome): void {
  if (!policy.halt || halting.ended.has(id)) return;
  halting.ended.add(id);
  if (!succeeded(outcome)) halting.failed++;
}

type Halted = Extract<RunEvent, { kind: "halted" }>;

/** What is to be told when the rule is met; null: it is not, or the run is coming to its end anyway. */
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

/** A share is of the jobs that this run had to do; of five, 50% are three. */
export function isMet({ amount, unit }: HaltRule, count: number, jobs: number): boolean {
  return unit === "jobs" ? count >= amount : count > 0 && count * 100 >= amount * jobs;
}

/** Whether a run that halted did what it was asked to: what was left out, or stopped for that, is no failure then. */
export function isHaltedWell({ halting: { reached }, tally, jobs }: RunState): boolean {
  if (reached === null || reached.why === "fail") return false;
  if (reached.why === "success") return true;
  const { running, ended, failed, lost, unknown } = tally;
  if (running + ended + failed + lost + unknown > 0) return false;
  for (const { fate } of jobs.values()) if (!isFine(fate)) return false;
  return true;
}

/** Never begun, skipped with success, or over. */
function isFine(fate: Fate): boolean {
  if (fate.kind === "skipped") return fate.outcome === null || isGood(fate.outcome);
  return (
    fate.kind === "dropped" ||
    fate.kind === "stopped" ||
    (fate.kind === "tried" && fate.stage.kind === "collected")
  );
}

function isGood(outcome: Outcome): boolean {
  return succeeded(outcome) || outcome.kind === "stopped";
}
