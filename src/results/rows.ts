// Makes the rows of a table of results from the state of each job.

import type { TrackedJob } from "../model/batch-state.js";
import type { Outcome } from "../model/job.js";
import type { Metrics, ResultRow, Span } from "../model/result.js";
import { type JobWord, lastAttempt } from "../model/standing.js";

/** As in `sshoal status`. */
export interface JobFacts {
  readonly state: JobWord;
  readonly outcome: Outcome | null;
  readonly machine: string | null;
  readonly slot: number | null;
  readonly attempt: number;
  readonly leftOut?: ResultRow["leftOut"];
}

/** Spans are by `job attempt`. */
export function resultRow(
  tracked: TrackedJob,
  { state, outcome, machine, slot, attempt, leftOut }: JobFacts,
  metrics: Metrics,
  spans: ReadonlyMap<string, Span>,
): ResultRow {
  const { id, line, name, label, command, parameters = {} } = tracked.job;
  const last = lastAttempt(tracked);
  const footprint = last !== null && "footprint" in last.stage ? last.stage.footprint : undefined;
  return {
    job: id,
    parameters: new Map(Object.entries(parameters)),
    startedAt: last === null ? null : (spans.get(`${id} ${last.number}`)?.start ?? null),
    durationMs: last !== null && "durationMs" in last.stage ? last.stage.durationMs : null,
    ...(footprint && { footprint }),
    name,
    ...(label !== undefined && { label }),
    line,
    command,
    state,
    outcome,
    ...(leftOut && { leftOut }),
    machine,
    slot,
    attempt,
    metrics,
  };
}
