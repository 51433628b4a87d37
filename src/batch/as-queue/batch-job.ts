// A job of a followed batch in the words of the API.

import path from "node:path";
import { courseOf, isUnbegun } from "../../model/attempt.js";
import type { BatchState, TrackedJob } from "../../model/batch-state.js";
import type { JobStatus } from "../../model/batch-status.js";
import { obstacleOf, turnoutOf } from "../../model/dependency.js";
import { jobLabel } from "../../model/job-label.js";
import type { JobTerms, QueueJob } from "../../model/queue.js";
import { queuePriority } from "../../model/queue-priority.js";
import { lastAttempt, wordOf } from "../../model/standing.js";
import { whySkipped } from "../../model/why-skipped.js";
import type { BatchOrder } from "../../run/order.js";
import { jobStatuses } from "../job-status.js";
import { type ReasonsByMachine, shortageOf } from "../output/look-closer.js";

export interface JobFacts {
  readonly batch: string;
  readonly state: BatchState & { readonly isPaused: boolean };
  readonly order: Pick<BatchOrder, "settings" | "policy" | "results">;
  /** Why jobs wait on their machines. */
  readonly reasons: ReasonsByMachine;
}

const NOTHING_STUCK: ReadonlyMap<string, string> = new Map();

export function queueJob(tracked: TrackedJob, facts: JobFacts, now: number): QueueJob {
  const { job } = tracked;
  const { batch, state, order } = facts;
  const [status] = jobStatuses({ jobs: [job], state, stuck: NOTHING_STUCK }, now);
  if (status === undefined) throw new Error(`no job ${job.id} in this batch`);
  const attempt = lastAttempt(tracked);
  const stage = attempt?.stage;
  const { gpus, resources } = stage === undefined ? {} : courseOf(stage);
  return {
    queue: batch,
    id: job.id,
    name: job.name,
    command: job.command,
    cwd: job.cwd ?? order.settings.inPlace ?? path.dirname(order.results.dir),
    need: job.requirement ?? order.settings.requirement,
    priority: queuePriority(job),
    after: job.dependsOn ?? [],
    terms: termsOf(tracked, order),
    state: status.state,
    isHeld: false,
    isHere: status.isHere,
    attempt: status.attempt,
    machine: attempt === null || isUnbegun(attempt) ? null : attempt.machine,
    got: { ...resources, ...(gpus && { gpu: gpus }) },
    reason: reasonOf(tracked, status, facts),
    enqueuedAt: state.life.stretches[0]?.from ?? 0,
    startedAt: status.startedAt,
    endedAt: stage !== undefined && "endedAt" in stage ? stage.endedAt : null,
    durationMs: stage !== undefined && "durationMs" in stage ? stage.durationMs : null,
    outcome: status.outcome,
    footprint: status.footprint ?? null,
    stderrTail: null,
    results: order.results.pathOf(job.name),
  };
}

/** Those of the job, or else those of the batch. */
function termsOf({ job }: TrackedJob, { settings, policy }: JobFacts["order"]): JobTerms {
  const timeoutSeconds = job.timeoutSeconds ?? settings.timeoutSeconds ?? 0;
  const maxOutput = job.maxOutput ?? settings.maxOutput;
  const limitsMemory = job.limitsMemory ?? settings.limitsMemory;
  const wrap = job.wrap ?? settings.wrap;
  const mergesOutput = job.mergesOutput ?? settings.mergesOutput;
  const envNames = job.envNames ?? settings.envNames;
  const keepsDir = job.keepsDir ?? settings.keepsDir;
  return {
    timeoutSeconds,
    retries: policy.retries,
    ...(maxOutput && { maxOutput }),
    ...(limitsMemory && { limitsMemory }),
    ...(wrap && { wrap }),
    ...(mergesOutput && { mergesOutput }),
    ...(envNames && { envNames }),
    ...(keepsDir && { keepsDir }),
    copyBack: job.copyBack ?? settings.copyBack,
    ...(job.parameters && { parameters: job.parameters }),
  };
}

function reasonOf(tracked: TrackedJob, status: JobStatus, { state, reasons }: JobFacts): string | null {
  const obstacle = obstacleOf(state, tracked);
  switch (wordOf(tracked)) {
    case "waiting":
      if (obstacle !== null) return `it comes after job ${jobLabel(obstacle.tracked.job)}`;
      if (status.leftOut !== undefined)
        return status.leftOut.map(({ machine, reason }) => `${machine}: ${reason}`).join("; ");
      if (state.isPaused) return "the batch is paused";
      return reasonOnMachine(tracked, state, reasons);
    case "skipped":
      return obstacle && whySkipped(obstacle.tracked.job.id, obstacle.when, turnoutOf(obstacle.tracked));
    case "lost":
      return status.outcome?.kind === "lost" ? status.outcome.reason : "its machine was left out";
    default:
      return tracked.fate.kind === "tried" && tracked.fate.stage.kind === "stuck"
        ? "its results cannot be collected"
        : null;
  }
}

/** In the words of the machine: reports turn them into sentences. */
function reasonOnMachine(tracked: TrackedJob, state: BatchState, reasons: ReasonsByMachine): string | null {
  const shortage = shortageOf(state, tracked, reasons);
  return shortage === undefined ? null : `${lastAttempt(tracked)?.machine} ${shortage}`;
}
