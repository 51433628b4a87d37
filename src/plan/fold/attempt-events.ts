// Applies a machine's report of an attempt: of the current attempt, or of an overtaken one that ran anyway.

import { type Attempt, courseOf, type Ending, isBefore, type Stage } from "../../model/attempt.js";
import { attemptKey } from "../../model/attempt-key.js";
import type { MachineState, TrackedJob } from "../../model/batch-state.js";
import type { RunEvent } from "../../model/event.js";
import { type Outcome, succeeded } from "../../model/job.js";
import { noteEndAt } from "../../model/life.js";
import { attemptsOf, outcomeAtHome } from "../../model/standing.js";
import { noteCrash } from "../crashes.js";
import { isToGrow } from "../grown.js";
import { noteEnd } from "../halt.js";
import { isToKeep, lastBegun } from "../kept-dirs.js";
import { type RunState, toChange } from "../run-state.js";
import { makeCurrent, noteRun, release, setStage, setTraits } from "./attempts.js";

type EventOf<K extends RunEvent["kind"]> = Extract<RunEvent, { kind: K }>;
type AttemptEvent = EventOf<"job-started" | "job-ended" | "job-collected" | "job-stuck">;

type Rested = EventOf<"rest-collected">;

/** One shared array, because a batch can have very many attempts. */
const NONE: readonly string[] = [];

interface About {
  readonly state: RunState;
  readonly machine: MachineState;
  readonly tracked: TrackedJob;
  readonly attempt: Attempt;
}

/** Returns false if the event changed nothing. */
export function applyToAttempt(state: RunState, event: AttemptEvent): boolean {
  const machine = toChange(state, event.machine);
  const attempt = machine.attempts.get(event.job);
  if (attempt?.number !== event.attempt || attempt.stage.kind === "unknown") return false;
  const tracked = state.jobs.get(event.job);
  if (tracked === undefined) return false;
  const about = { state, machine, tracked, attempt };
  switch (event.kind) {
    case "job-started":
      return start(about, event);
    case "job-ended":
      return end(about, event);
    case "job-collected":
      return collect(about, event);
    case "job-stuck":
      return stick(about);
    default:
      return event satisfies never;
  }
}

function start({ state, machine, tracked, attempt }: About, event: EventOf<"job-started">): boolean {
  const { stage } = attempt;
  const { slot, gpus, resources } = event;
  const startedAt = startOf(event);
  // The client may learn that a job began before it learns in which slot.
  const isKnown = stage.kind === "running" ? stage.slot !== null : !isBefore(stage, "running");
  if (isKnown && stage.kind === "running" && event.startedAt !== undefined)
    // The clock of this client may differ from the clock of the client that recorded the start.
    setStage(state, machine, attempt, { ...stage, startedAt });
  if (isKnown) return false;
  isReclaimed(state, tracked, attempt);
  noteRun(tracked, attempt);
  machine.isFull = false;
  const isStopping = stage.kind === "running" && stage.isStopping;
  const running: Stage = { kind: "running", slot, startedAt, isStopping };
  setStage(state, machine, attempt, withRare(running, { gpus, resources }));
  return attempt.isCurrent;
}

function end({ state, machine, tracked, attempt }: About, event: EventOf<"job-ended">): boolean {
  const { outcome, durationMs, at, footprint } = event;
  if (!isBefore(attempt.stage, "ended")) return false;
  isReclaimed(state, tracked, attempt);
  noteRun(tracked, attempt);
  const { slot, startedAt, gpus, resources } = courseOf(attempt.stage);
  const endedAt = endOf(startedAt, durationMs, timeOf(at));
  const ended: Stage = { kind: "ended", slot, startedAt, endedAt, durationMs, outcome };
  setStage(state, machine, attempt, withRare(ended, { gpus, resources, footprint }));
  noteDuration(state, { startedAt, endedAt, durationMs, outcome });
  const isRetried = isWorthRetrying(state, tracked, outcome);
  if (attempt.isCurrent && !isRetried) noteEnd(state, attempt.job, outcome);
  // A job that runs once more with more memory says nothing about the next jobs.
  if (attempt.isCurrent && !(isRetried && isToGrow(state, tracked, outcome))) noteCrash(state, event);
  return attempt.isCurrent;
}

interface Rare {
  readonly gpus?: Ending["gpus"] | undefined;
  readonly resources?: Ending["resources"] | undefined;
  readonly footprint?: Ending["footprint"] | undefined;
}

/** Adds what few attempts have. The stage of the others is one literal, which takes less time and memory than spreads. */
function withRare(stage: Stage, { gpus, resources, footprint }: Rare): Stage {
  if (gpus === undefined && resources === undefined && footprint === undefined) return stage;
  return {
    ...stage,
    ...(gpus && { gpus }),
    ...(resources && { resources }),
    ...(footprint && { footprint }),
  };
}

/** At the latest, the time at which the client heard of it. */
function startOf({ startedAt, at }: EventOf<"job-started">): number | null {
  if (startedAt === undefined) return timeOf(at);
  return Math.min(startedAt, timeOf(at) ?? startedAt);
}

/** The client may hear of an end long after it happened, for example if no client followed the batch. */
function endOf(startedAt: number | null, durationMs: number, learnedAt: number | null): number | null {
  if (startedAt === null) return learnedAt;
  return Math.min(startedAt + durationMs, learnedAt ?? Number.POSITIVE_INFINITY);
}

/** Events without a time come from a machine's log and may be old. */
function timeOf(at: number): number | null {
  return at === 0 ? null : at;
}

function noteDuration({ life }: RunState, ending: Omit<Ending, "slot">): void {
  const { startedAt, endedAt, durationMs, outcome } = ending;
  // A job that never began was waiting on its machine until now.
  if (startedAt !== null && endedAt !== null) noteEndAt(life, endedAt);
  if (outcome.kind === "stopped" || outcome.kind === "lost") return;
  life.durations.totalMs += durationMs;
  life.durations.count++;
}

function collect(
  { state, machine, tracked, attempt }: About,
  { outcome: collectedOutcome, missing = NONE, beside }: EventOf<"job-collected">,
): boolean {
  const { stage } = attempt;
  if (stage.kind !== "ended") return false;
  const isToRetry = attempt.isCurrent && isWorthRetrying(state, tracked, collectedOutcome);
  const { slot, startedAt, endedAt, durationMs, outcome } = stage;
  const collected: Stage = {
    kind: "collected",
    slot,
    startedAt,
    endedAt,
    durationMs,
    outcome,
    isThere: true,
    isKept: isToKeep(state, tracked, outcome),
    isToRetry,
    missing,
  };
  setStage(state, machine, attempt, withRare(collected, stage));
  const isNews = attempt.isCurrent || isAdopted(state, tracked, attempt, outcome);
  noteCopy(state, tracked, attempt, beside ?? tracked.job.name);
  return isNews;
}

/**
 * The next attempt starts from the last attempt that began, which had everything of the earlier ones. After a success
 * it needs no copy.
 */
function noteCopy(state: RunState, tracked: TrackedJob, attempt: Attempt, copy: string): void {
  const atHome = outcomeAtHome(tracked);
  if (atHome && succeeded(atHome)) {
    if (tracked.traits.copy !== null) setTraits(tracked, { copy: null });
    // The success itself is never kept.
    return release(state, tracked.earlier);
  }
  const last = lastBegun(tracked);
  if (last === null) return;
  release(
    state,
    attemptsOf(tracked).filter(({ number }) => number < last.number),
  );
  if (last === attempt && !succeeded(last.stage.outcome)) setTraits(tracked, { copy });
}

/** Applies what the machine sent when it was asked again for missing results. */
export function collectRest(state: RunState, { job, attempt: number, missing }: Rested): void {
  const tracked = state.jobs.get(job);
  const rest = tracked && attemptsOf(tracked).find((each) => each.number === number);
  if (rest?.stage.kind !== "collected") return;
  const machine = toChange(state, rest.machine);
  if (!machine.rests.has(attemptKey(rest))) return;
  machine.restsToTry.delete(attemptKey(rest));
  setStage(state, machine, rest, { ...rest.stage, missing });
}

function stick({ state, machine, attempt }: About): boolean {
  const { stage } = attempt;
  if (stage.kind !== "ended") return false;
  setStage(state, machine, attempt, { ...stage, kind: "stuck" });
  return true;
}

/** If no other machine has the job yet, this attempt becomes current again, so that the job does not run twice. */
export function isReclaimed(state: RunState, tracked: TrackedJob, attempt: Attempt): boolean {
  if (attempt.isCurrent) return false;
  const { fate, traits, lastNumber } = tracked;
  const isHere = fate.kind !== "tried" && fate.kind !== "skipped";
  const isFree = isHere && !traits.isReplaced;
  if (!isFree || attempt.number !== lastNumber) return false;
  makeCurrent(state, tracked, attempt);
  return true;
}

/** The first collected result counts. A lost attempt is no result while another machine has the job. */
function isAdopted(state: RunState, tracked: TrackedJob, attempt: Attempt, outcome: Outcome): boolean {
  if (outcome.kind === "lost" || isHome(tracked)) return false;
  makeCurrent(state, tracked, attempt);
  noteEnd(state, attempt.job, outcome);
  // In records without attempt numbers, counting continues from this one.
  tracked.lastNumber++;
  return true;
}

function isHome({ fate }: TrackedJob): boolean {
  return fate.kind === "skipped" || (fate.kind === "tried" && fate.stage.kind === "collected");
}

export function isWorthRetrying(state: RunState, tracked: TrackedJob, outcome: Outcome): boolean {
  // Most jobs succeed.
  if (succeeded(outcome) || outcome.kind === "stopped") return false;
  const { policy, interrupted, stopping, excused } = state;
  const { job, traits } = tracked;
  if (traits.isGone || interrupted !== "no" || stopping.has(job.id)) return false;
  if (excused.has(job.id) || isToGrow(state, tracked, outcome)) return true;
  return (outcome.kind === "lost" || policy.retriesFailures) && traits.retries < policy.retries;
}
