// Stops jobs of a batch without a follower: follows it until they have ended and their results are collected.

import { ExitCode, UserError } from "../../errors.js";
import type { JobId } from "../../model/job.js";
import { isStoppable } from "../../model/standing.js";
import type { Results } from "../../run/home/results.js";
import type { BatchHere } from "../find/batches-here.js";
import { closedOrder } from "../find/recorded-batch.js";
import { type Following, followBatch } from "../follow/follow-batch.js";
import { askToStop, maySettle, type StoppedJob, stopReport } from "./stop-jobs.js";

export interface StopHere extends Pick<Following, "surroundings" | "connector" | "notifier"> {
  readonly here: BatchHere;
  /** Null: all of the batch. */
  readonly jobs: readonly JobId[] | null;
  readonly results: Results;
  readonly viewer: Pick<Following["viewer"], "show" | "attend">;
}

/** A machine that could not be asked to stop its jobs. */
export interface StopTrouble {
  readonly machine: string;
  readonly reason: string;
  readonly hint: string | null;
}

export interface StopReport {
  readonly jobs: readonly StoppedJob[];
  readonly trouble: readonly StopTrouble[];
}

/** Throws UserError if it was interrupted. Jobs on an unreachable machine continue as if they had not been asked to stop. */
export async function stopHere({ here, jobs, results, viewer, ...means }: StopHere): Promise<StopReport> {
  let targets: readonly JobId[] = [];
  const trouble = new Map<string, StopTrouble>();
  let report: StoppedJob[] | null = null;
  const isEnough: Following["isEnough"] = (run, event) => {
    if (event.kind === "run-started") targets = askToStop(run, jobs);
    if (event.kind === "machine-failed" || event.kind === "machine-lost") {
      const { machine, reason } = event;
      trouble.set(machine, { machine, reason, hint: event.kind === "machine-failed" ? event.hint : null });
    }
    if (report !== null || !maySettle(event)) return false;
    report = stopReport(run.state, targets);
    if (report === null) return false;
    const unreached = report.filter(({ end }) => end === "unreached").map(({ job }) => job);
    if (unreached.length > 0) run.emit({ kind: "jobs-resumed", jobs: unreached });
    // If no other jobs are left, the run ends by itself, once its machines are cleaned up.
    return unreached.length > 0 || [...run.state.jobs.values()].some(isStoppable);
  };
  const ending = await followBatch({
    ...means,
    order: closedOrder(here, results),
    viewer: { ...viewer, suspend() {}, resume() {}, hasRoom: null },
    sending: { maxBytes: null, confirm: null },
    isEnough,
  });
  if (ending.kind === "finished") report ??= stopReport(ending.state, targets);
  if (report !== null) {
    const unreached = new Set(report.map(({ end, machine }) => (end === "unreached" ? machine : null)));
    return { jobs: report, trouble: [...trouble.values()].filter(({ machine }) => unreached.has(machine)) };
  }
  throw new UserError("left before the jobs had ended", {
    hint: "sshoal status",
    exitCode: ExitCode.Interrupted,
  });
}
