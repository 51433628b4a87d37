// Where a job stands, read from its fate and its attempts. Pure.

import { type Attempt, isUnbegun, type Stage } from "./attempt.js";
import type { Fate, Phase, TrackedJob } from "./batch-state.js";
import type { Outcome } from "./job.js";

/** A fate, or the stage of the current attempt with its machine. */
export type Standing =
  | Exclude<Fate, Attempt>
  | ({ readonly machine: string; readonly attempt: Attempt } & Stage);

export function standingOf({ fate }: TrackedJob): Standing {
  if (fate.kind !== "tried") return fate;
  return { machine: fate.machine, attempt: fate, ...fate.stage };
}

/** How the job ended, if its results are on the local disk; null if no record has its end. Undefined if they are not. */
export function outcomeAtHome({ fate }: TrackedJob): Outcome | null | undefined {
  if (fate.kind === "skipped") return fate.outcome;
  if (fate.kind !== "tried" || fate.stage.kind !== "collected") return undefined;
  return fate.stage.outcome;
}

/** Every attempt that was not taken back before it began, oldest first. */
export function attemptsOf({ fate, earlier }: TrackedJob): readonly Attempt[] {
  if (fate.kind !== "tried") return earlier;
  return earlier.length === 0 ? [fate] : withAttempt(earlier, fate);
}

/** By their numbers, because an earlier attempt can become current again. */
export function withAttempt(attempts: readonly Attempt[], one: Attempt): readonly Attempt[] {
  return [...attempts, one].sort((a, b) => a.number - b.number);
}

/** How often the job has begun, as far as the client knows. */
export function runsOf({ fate, earlier }: TrackedJob): number {
  let most = fate.kind === "tried" ? (fate.run ?? 0) : 0;
  for (const { run } of earlier) if (run !== null && run > most) most = run;
  return most;
}

export function phaseOf({ fate }: TrackedJob): Phase {
  if (fate.kind === "dropped") return "waiting";
  return fate.kind === "tried" ? phaseAt(fate.stage) : fate.kind;
}

/** The phase of a job whose current attempt is at this stage. */
export function phaseAt(stage: Stage): Phase {
  switch (stage.kind) {
    case "running":
    case "ended":
    case "unknown":
      return stage.kind;
    case "stuck":
      return "ended";
    case "collected":
      return endingOf(stage.outcome);
    case "assigned":
    case "sent":
    case "queued":
      return "waiting";
    default:
      return stage satisfies never;
  }
}

type EndPhase = "succeeded" | "failed" | "stopped" | "lost";

/** The phase that an outcome leads to. */
export function endingOf(outcome: Outcome): EndPhase {
  switch (outcome.kind) {
    case "stopped":
    case "lost":
      return outcome.kind;
    case "exited":
      return outcome.code === 0 ? "succeeded" : "failed";
    case "killed":
    case "timed-out":
      return "failed";
    default:
      return outcome satisfies never;
  }
}

/** The words for a job's state, in the order in which every report counts them. */
export const JOB_WORDS = ["succeeded", "failed", "stopped", "lost", "skipped", "running", "waiting"] as const;
export type JobWord = (typeof JOB_WORDS)[number];

export function wordOf(tracked: TrackedJob): JobWord {
  const { fate } = tracked;
  if (fate.kind === "skipped") return fate.outcome === null ? "skipped" : endingOf(fate.outcome);
  if (fate.kind === "tried" && "outcome" in fate.stage) return endingOf(fate.stage.outcome);
  const phase = phaseOf(tracked);
  if (phase === "blocked" || phase === "unneeded") return "skipped";
  return phase === "running" || phase === "waiting" || phase === "stopped" ? phase : "lost";
}

/** True if it waits or runs, as far as the client knows. */
export function isStoppable({ fate }: TrackedJob): boolean {
  if (fate.kind !== "tried") return fate.kind === "waiting" || fate.kind === "dropped";
  return isUnbegun(fate) || fate.stage.kind === "running";
}

/** The current attempt, or the last one that began. */
export function lastAttempt({ fate, earlier }: TrackedJob): Attempt | null {
  if (fate.kind === "tried") return fate;
  return fate.kind === "skipped" ? (earlier.findLast(({ run }) => run !== null) ?? null) : null;
}
