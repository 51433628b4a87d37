// What the record learns of a job from its generation, as the state of the engine has it. Pure.

import { type Attempt, courseOf, isUnbegun } from "../../model/attempt.js";
import type { TrackedJob } from "../../model/batch-state.js";
import type { Footprint } from "../../model/footprint.js";
import type { JobId, Outcome } from "../../model/job.js";
import { lastAttempt } from "../../model/standing.js";

export type JobFact = { readonly job: JobId } & (
  | {
      readonly kind: "started";
      readonly machine: string;
      readonly startedAt: number;
      readonly got: Readonly<Record<string, readonly string[]>>;
    }
  | {
      readonly kind: "ended";
      readonly machine: string | null;
      readonly outcome: Outcome;
      readonly durationMs: number | null;
      readonly footprint: Footprint | null;
      readonly stderrTail: string | null;
      /** Why its results are not here; null: they are. */
      readonly problem: string | null;
    }
  /** It has not begun, and no machine has it any more. */
  | { readonly kind: "returned" }
);

export type EndFact = Extract<JobFact, { kind: "ended" }>;

/** The start of an attempt under way; null: none has begun, or it is over. */
export function startFact({ job, fate }: TrackedJob): JobFact | null {
  if (fate.kind !== "tried" || isUnbegun(fate) || fate.stage.kind === "collected") return null;
  const { startedAt, gpus } = courseOf(fate.stage);
  if (startedAt === null) return null;
  const got = gpus === undefined ? {} : { gpu: gpus };
  return { kind: "started", job: job.id, machine: fate.machine, startedAt, got };
}

/** The end of a job whose results are here, or can never be; null: it has not ended, or the engine runs it once more. */
export function endFact(
  tracked: TrackedJob,
  besides: Pick<EndFact, "stderrTail" | "problem">,
): JobFact | null {
  const attempt = lastAttempt(tracked);
  const outcome = outcomeOf(tracked, attempt);
  if (outcome === null || isRetried(tracked)) return null;
  const stage = attempt?.stage;
  return {
    kind: "ended",
    job: tracked.job.id,
    machine: attempt?.machine ?? null,
    outcome,
    durationMs: stage !== undefined && "durationMs" in stage ? stage.durationMs : null,
    footprint: (stage !== undefined && "footprint" in stage ? stage.footprint : undefined) ?? null,
    ...besides,
  };
}

function outcomeOf({ fate }: TrackedJob, attempt: Attempt | null): Outcome | null {
  if (fate.kind === "skipped") return fate.outcome;
  const stage = attempt?.stage;
  return stage !== undefined && "outcome" in stage ? stage.outcome : null;
}

/** The engine itself runs it once more, as on another machine if this one crashes everything. */
function isRetried({ fate }: TrackedJob): boolean {
  return fate.kind === "tried" && fate.stage.kind === "collected" && fate.stage.isToRetry === true;
}

/** On a machine that was left out, where it may still run. */
export function isAway({ fate }: TrackedJob): boolean {
  return fate.kind === "tried" && fate.stage.kind === "unknown";
}

const ENDED_WITHOUT_RESULTS = { durationMs: null, footprint: null, stderrTail: null } as const;

/** Its machine was left out. */
export function lostFact(job: JobId, tracked: TrackedJob | undefined): JobFact {
  const attempt = tracked === undefined ? null : lastAttempt(tracked);
  const reason = attempt === null ? "its machine was left out" : `${attempt.machine} was left out`;
  const outcome: Outcome = { kind: "lost", reason };
  const machine = attempt?.machine ?? null;
  return { kind: "ended", job, machine, outcome, problem: reason, ...ENDED_WITHOUT_RESULTS };
}

export function stoppedFact(job: JobId): EndFact {
  const outcome: Outcome = { kind: "stopped" };
  return { kind: "ended", job, machine: null, outcome, problem: null, ...ENDED_WITHOUT_RESULTS };
}

/** Its stored files are damaged or gone. */
export function unreadableFact(job: JobId, problem: string): JobFact {
  const reason = `its files cannot be read: ${problem}`;
  const outcome: Outcome = { kind: "lost", reason };
  return { kind: "ended", job, machine: null, outcome, problem: reason, ...ENDED_WITHOUT_RESULTS };
}
