// What a machine's report of an attempt changes: of the current one, and of one that was overtaken and ran all the same.

import { type Attempt, courseOf, isBefore } from "../../model/attempt.js";
import { attemptKey } from "../../model/attempt-key.js";
import type { TrackedJob } from "../../model/batch-state.js";
import type { RunEvent } from "../../model/event.js";
import { type Outcome, succeeded } from "../../model/job.js";
import { noteEnd } from "../halt.js";
import { machineOf, type RunState, toChange } from "../run-state.js";
import { makeCurrent, setStage } from "./attempts.js";

type EventOf<K extends RunEvent["kind"]> = Extract<RunEvent, { kind: K }>;
type AttemptEvent = EventOf<"job-started" | "job-ended" | "job-collected" | "job-stuck">;

type Rested = EventOf<"rest-collected">;

/** One for all, since there may be very many. */
const NONE: readonly string[] = [];

/** False when it is no news. */
export function applyToAttempt(state: RunState, event: AttemptEvent): boolean {
  const tracked = state.jobs.get(event.job);
  const attempt = machineOf(state, event.machine).attempts.get(event.job);
  if (tracked === undefined || attempt === undefined || attempt.number !== event.attempt) return false;
  if (attempt.stage.kind === "unknown") return false;
  switch (event.kind) {
    case "job-started":
      return start(state, tracked, attempt, event);
    case "job-ended":
      return end(state, tracked, attempt, event);
    case "job-collected":
      return collect(state, tracked, attempt, event);
    case "job-stuck":
      return stick(state, tracked, attempt);
    default:
      return event satisfies never;
  }
}

function start(
  state: RunState,
  tracked: TrackedJob,
  attempt: Attempt,
  { slot, at }: EventOf<"job-started">,
): boolean {
  const { stage } = attempt;
  // That it has begun may be known before where.
  const isKnown = stage.kind === "running" ? stage.slot !== null : !isBefore(stage, "running");
  if (isKnown) return false;
  isReclaimed(state, tracked, attempt);
  const isStopping = stage.kind === "running" && stage.isStopping;
  setStage(state, tracked, attempt, { kind: "running", slot, startedAt: timeOf(at), isStopping });
  return attempt.isCurrent;
}

function end(
  state: RunState,
  tracked: TrackedJob,
  attempt: Attempt,
  { outcome, durationMs, at }: EventOf<"job-ended">,
): boolean {
  if (!isBefore(attempt.stage, "ended")) return false;
  isReclaimed(state, tracked, attempt);
  const { slot, startedAt } = courseOf(attempt.stage);
  setStage(state, tracked, attempt, {
    kind: "ended",
    slot,
    startedAt,
    endedAt: timeOf(at),
    durationMs,
    outcome,
  });
  if (attempt.isCurrent && !isWorthRetrying(state, tracked, outcome))
    noteEnd(state.halting, attempt.job, outcome);
  return attempt.isCurrent;
}

/** Events without a time are read from a machine's log, long after they happened. */
function timeOf(at: number): number | null {
  return at === 0 ? null : at;
}

function collect(
  state: RunState,
  tracked: TrackedJob,
  attempt: Attempt,
  { outcome, missing = NONE }: EventOf<"job-collected">,
): boolean {
  const { stage } = attempt;
  if (stage.kind !== "ended") return false;
  const isToRetry = attempt.isCurrent && isWorthRetrying(state, tracked, outcome);
  setStage(state, tracked, attempt, { ...stage, kind: "collected", isThere: true, isToRetry, missing });
  return attempt.isCurrent || isAdopted(state, tracked, attempt, stage.outcome);
}

/** The machine was asked again for what was missing. */
export function collectRest(state: RunState, { job, attempt: number, missing }: Rested): void {
  const tracked = state.jobs.get(job);
  const rest = tracked?.attempts.find((each) => each.number === number);
  if (rest?.stage.kind !== "collected" || tracked === undefined) return;
  if (!machineOf(state, rest.machine).rests.has(attemptKey(rest))) return;
  toChange(state, rest.machine).restsToTry.delete(attemptKey(rest));
  setStage(state, tracked, rest, { ...rest.stage, missing });
}

function stick(state: RunState, tracked: TrackedJob, attempt: Attempt): boolean {
  const { stage } = attempt;
  if (stage.kind !== "ended") return false;
  setStage(state, tracked, attempt, { ...stage, kind: "stuck" });
  return true;
}

/** No other machine has got the job yet: it is this attempt's again, and is not run a second time. */
export function isReclaimed(state: RunState, tracked: TrackedJob, attempt: Attempt): boolean {
  const { fate, isReplaced, lastNumber } = tracked;
  const isFree = (fate.kind === "waiting" || fate.kind === "dropped") && !isReplaced;
  if (attempt.isCurrent || !isFree || attempt.number !== lastNumber) return false;
  makeCurrent(state, tracked, attempt);
  return true;
}

/** The first result that comes home counts. What went down with a machine is no result while the job is tried elsewhere. */
function isAdopted(state: RunState, tracked: TrackedJob, attempt: Attempt, outcome: Outcome): boolean {
  if (outcome.kind === "lost" || isHome(tracked)) return false;
  makeCurrent(state, tracked, attempt);
  noteEnd(state.halting, attempt.job, outcome);
  // Records without numbers of attempts count from here.
  tracked.lastNumber++;
  return true;
}

function isHome({ fate }: TrackedJob): boolean {
  return fate.kind === "skipped" || (fate.kind === "tried" && fate.attempt.stage.kind === "collected");
}

function isWorthRetrying(
  { policy, interrupted }: RunState,
  { retries }: TrackedJob,
  outcome: Outcome,
): boolean {
  if (interrupted !== "no" || succeeded(outcome) || outcome.kind === "stopped") return false;
  return (outcome.kind === "lost" || policy.retriesFailures) && retries < policy.retries;
}
