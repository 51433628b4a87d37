// Rebuilds from the record what a viewer knows of a batch that another client follows: the same state as the
// follower's.

import { readdirSync } from "node:fs";
import type { RunEvent } from "../../model/event.js";
import type { JobId } from "../../model/job.js";
import { outcomeAtHome } from "../../model/standing.js";
import { apply } from "../../plan/fold/apply.js";
import { forgetGone } from "../../plan/fold/edit-events.js";
import { initialState } from "../../plan/fold/initial-state.js";
import { olderFormats, readPast } from "../../plan/fold/read-past.js";
import { replay } from "../../plan/fold/replay.js";
import type { RunState } from "../../plan/run-state.js";
import type { Results } from "../../run/home/results.js";

type Started = Extract<RunEvent, { kind: "run-started" }>;

export interface Watched {
  readonly state: RunState;
  /** The start of the last run. */
  readonly started: Started;
  /** The events since the follower began. */
  readonly history: readonly RunEvent[];
}

/** Viewers decide nothing. */
const NO_POLICY = { retries: 0, retriesFailures: false, reassignAfterMs: null };

/** `since`: when the follower began. Null: the events have no run. */
export function watchedState(events: readonly RunEvent[], since: number, results: Results): Watched | null {
  const past = readPast(events);
  const started = events.findLast((event) => event.kind === "run-started");
  if (past === null || started === undefined) return null;
  const state = initialState({
    jobs: past.lastJobs,
    machines: [...past.machines.keys()],
    formats: olderFormats(past.machines.values()),
    policy: NO_POLICY,
  });
  replay(state, events);
  forgetGone(state);
  const start = events.findIndex(({ kind, at }) => kind === "run-started" && at >= since);
  const history = events.slice(start);
  skipDone(state, events.slice(0, start), history, results);
  for (const event of events.slice(events.lastIndexOf(started)))
    if (ABOUT_RUN.has(event.kind)) apply(state, event);
  return { state, started, history: withoutRepeats(history) };
}

/** Machines report their events again to each run. */
function withoutRepeats(events: readonly RunEvent[]): RunEvent[] {
  const seen = new Set<string>();
  return events.filter((event) => {
    if (!("attempt" in event && "machine" in event)) return true;
    const about = `${event.kind} ${event.job} ${event.attempt}`;
    return seen.size < seen.add(about).size;
  });
}

/** Recorded events about a client and its connections: true while that client lives. */
const ABOUT_RUN: ReadonlySet<RunEvent["kind"]> = new Set([
  "machine-ready",
  "machine-serves",
  "machine-done",
  "interrupted",
  "halted",
]);

/** As at the start of a client: results that existed before count as skipped. */
function skipDone(
  state: RunState,
  before: readonly RunEvent[],
  history: readonly RunEvent[],
  results: Results,
): void {
  const done = idsOf(before, "job-collected");
  const since = idsOf(history, "job-collected");
  const there = new Set(readdirSync(results.dir));
  for (const [id, tracked] of state.jobs) {
    const outcome = outcomeAtHome(tracked);
    const isOlder = outcome !== undefined && done.has(id) && !since.has(id);
    const isForeign = tracked.fate.kind === "waiting" && there.has(tracked.job.name);
    if (isOlder || isForeign) apply(state, { kind: "job-skipped", job: id, outcome: outcome ?? null, at: 0 });
  }
}

function idsOf(events: readonly RunEvent[], kind: "job-collected"): Set<JobId> {
  return new Set(events.flatMap((event) => (event.kind === kind ? [event.job] : [])));
}
