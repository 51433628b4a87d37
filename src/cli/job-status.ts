// A batch's state, job by job, as `sshoal status` shows it. Pure.

import { attemptKey } from "../model/job.js";
import type { JobState } from "../plan/run-state.js";
import type { JobStatus } from "../report/status-lines.js";
import type { BatchHere } from "./batches-here.js";

export function jobStatuses(
  batch: Pick<BatchHere, "jobs" | "state" | "seats" | "collected" | "stuck">,
): JobStatus[] {
  const { jobs, state, seats, collected, stuck } = batch;
  const rests = new Map([...state.machines.values()].flatMap((machine) => [...machine.rests]));
  return jobs.map(({ line, name, parameters }) => {
    const job = state.jobs.get(line) ?? { kind: "waiting" };
    const isHome = job.kind === "collected" || job.kind === "skipped";
    const attempt = (isHome ? collected.get(line) : undefined) ?? state.attempts.get(line) ?? 0;
    const key = attemptKey(line, attempt);
    const rest = rests.get(key);
    const reason = job.kind === "ended" ? stuck.get(key) : undefined;
    const seat = hasSeat(job) ? seats.get(key) : undefined;
    return {
      job: name,
      line,
      state: stateWord(job),
      machine: "machine" in job ? job.machine : (seat?.machine ?? null),
      slot: seat?.slot ?? null,
      attempt,
      outcome: "outcome" in job ? job.outcome : null,
      ...(parameters !== undefined && { parameters }),
      ...(rest !== undefined && { missing: rest.missing }),
      ...(reason !== undefined && { reason }),
    };
  });
}

/** What waits may have had one in an attempt that was given up. */
function hasSeat({ kind }: JobState): boolean {
  return kind !== "waiting" && kind !== "queued" && kind !== "dropped";
}

function stateWord({ kind }: JobState): JobStatus["state"] {
  switch (kind) {
    case "skipped":
      return "collected";
    case "dropped":
      return "waiting";
    // Neither is replayed from a record: what became of these jobs is asked of their machines.
    case "stuck":
    case "unknown":
      return "ended";
    default:
      return kind;
  }
}
