// The rows of a table of results, from what is known of each job.

import { attemptKey, type Job, type Outcome, succeeded } from "../model/job.js";
import type { Metrics, ResultRow, Seat, Span } from "../model/result.js";

export interface KnownJob extends Job {
  readonly state: "waiting" | "queued" | "running" | "ended" | "collected";
  readonly outcome: Outcome | null;
  readonly machine: string | null;
  readonly slot: number | null;
  readonly attempt: number;
  readonly metrics: Metrics;
}

/** Seats and spans are by attempt key. */
export function resultRow(
  job: KnownJob,
  seats: ReadonlyMap<string, Seat>,
  spans: ReadonlyMap<string, Span>,
): ResultRow {
  const { name, line, command, outcome, machine, slot, attempt, metrics } = job;
  const key = attemptKey(line, attempt);
  const hasBegun = job.state !== "waiting" && job.state !== "queued";
  return {
    job: name,
    parameters: new Map(Object.entries(job.parameters ?? {})),
    state: stateOf(job),
    startedAt: hasBegun ? (spans.get(key)?.start ?? null) : null,
    durationMs: hasBegun ? (seats.get(key)?.durationMs ?? null) : null,
    ...{ line, command, outcome, machine, slot, attempt, metrics },
  };
}

function stateOf({ state, outcome }: KnownJob): ResultRow["state"] {
  if (outcome !== null) return succeeded(outcome) ? "succeeded" : "failed";
  return state === "collected" ? "done" : state;
}
