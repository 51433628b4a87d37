// Stops jobs of a batch through the run that follows it, and reports what happened to each. Used by a command that
// follows the batch only for this, and by one that follows it already.

import { courseOf } from "../../model/attempt.js";
import type { TrackedJob } from "../../model/batch-state.js";
import type { RunEvent } from "../../model/event.js";
import type { JobId } from "../../model/job.js";
import { isStoppable, type JobWord, wordOf } from "../../model/standing.js";
import type { RunState } from "../../plan/run-state.js";
import type { BatchRun } from "../../run/batch-run.js";

/** What happened to a job that was to be stopped. */
export interface StoppedJob {
  readonly job: JobId;
  readonly name: string;
  /** Null: it had not begun on any machine. */
  readonly machine: string | null;
  /** "stopped", or how it ended by itself in the meantime; "unreached": its machine cannot be asked, and it may continue. */
  readonly end: JobWord | "unreached";
}

/** `jobs` null: all of the batch, which then ends. Returns those that wait or run, and are stopped now. */
export function askToStop(run: Pick<BatchRun, "state" | "emit">, jobs: readonly JobId[] | null): JobId[] {
  const all = jobs ?? [...run.state.jobs.keys()];
  const open = all.filter((id) => isOpen(run.state.jobs.get(id)));
  if (jobs === null) run.emit({ kind: "interrupted", mode: "stop" });
  else if (open.length > 0) run.emit({ kind: "jobs-stopping", jobs: open });
  return open;
}

export function isOpen(tracked: TrackedJob | undefined): boolean {
  return tracked !== undefined && isStoppable(tracked);
}

/** Null: some are still being stopped. Call it again after each event that `maySettle`. */
export function stopReport(state: RunState, jobs: readonly JobId[]): StoppedJob[] | null {
  const report: StoppedJob[] = [];
  for (const id of jobs) {
    const tracked = state.jobs.get(id);
    if (tracked === undefined) continue;
    const end = endOf(state, tracked);
    if (end === null) return null;
    report.push({ job: id, name: tracked.job.name, machine: machineOf(tracked), end });
  }
  return report;
}

/** Null: it did not begin on one. */
function machineOf({ fate }: TrackedJob): string | null {
  if (fate.kind !== "tried") return null;
  const hasEnded = fate.stage.kind === "collected" || fate.stage.kind === "stuck";
  return hasEnded && courseOf(fate.stage).startedAt === null ? null : fate.machine;
}

function endOf({ machines }: RunState, tracked: TrackedJob): StoppedJob["end"] | null {
  const { fate } = tracked;
  if (fate.kind !== "tried") return isStoppable(tracked) ? null : wordOf(tracked);
  const { kind } = fate.stage;
  if (kind === "collected" || kind === "stuck") return wordOf(tracked);
  const isAway = kind === "unknown" || machines.get(fate.machine)?.phase === "lost";
  return isAway ? "unreached" : null;
}

const SETTLING: ReadonlySet<RunEvent["kind"]> = new Set([
  "jobs-stopping",
  "interrupted",
  "jobs-taken-back",
  "job-collected",
  "job-stuck",
  "jobs-gone",
  "machine-lost",
  "machine-failed",
]);

export function maySettle({ kind }: RunEvent): boolean {
  return SETTLING.has(kind);
}
