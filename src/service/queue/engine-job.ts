// Turns a job of a queue into a job of the engine. Pure.

import { type Job, kindOf, type Requirement } from "../../model/job.js";
import type { Queue, QueueJob } from "../../model/queue.js";
import { enginePriority } from "../../model/queue-priority.js";
import { pinned, pooledNeed, usualNeed } from "../../plan/queue/queue-need.js";
import type { GivenJob } from "./given-jobs.js";

export interface MachineFacts {
  /** Machines of the queue have real cards. */
  readonly hasCards: boolean;
  /** All of its machines are this computer. */
  readonly isLocal: boolean;
}

/** What the job needs of a machine of the queue. */
export function engineNeed(
  { need, terms }: Pick<QueueJob, "need" | "terms">,
  queue: Queue,
  { hasCards, isLocal }: MachineFacts,
): Requirement {
  const pooled = pooledNeed(need, queue, hasCards);
  return isLocal || terms.tree !== undefined ? pooled : pinned(pooled, queue.name);
}

export function engineJob(job: QueueJob, queue: Queue, facts: MachineFacts): Job {
  const { timeoutSeconds, maxOutput, limitsMemory, wrap, mergesOutput, envNames } = job.terms;
  const { tree, copyBack, keepsDir } = job.terms;
  const requirement = engineNeed(job, queue, facts);
  const isUsual = kindOf(requirement) === kindOf(pooledNeed(usualNeed(queue), queue, facts.hasCards));
  return {
    id: job.id,
    line: null,
    name: job.results,
    label: `${job.queue}/${job.id}`,
    command: job.command,
    // The need of the batch, for which a machine gets no file per job.
    ...(!isUsual && { requirement }),
    priority: enginePriority(job.priority),
    ...(timeoutSeconds !== undefined && { timeoutSeconds }),
    ...(maxOutput !== undefined && { maxOutput }),
    ...(limitsMemory !== undefined && { limitsMemory }),
    ...(wrap !== undefined && { wrap }),
    ...((mergesOutput || job.terms.outFile !== undefined) && { mergesOutput: true }),
    ...(envNames !== undefined && { envNames }),
    // A job with a tree of its own never runs in place.
    ...(tree === undefined
      ? { cwd: job.cwd }
      : { tree, copyForward: ["."], copyBack: copyBack ?? ["."], ...(keepsDir && { keepsDir }) }),
  };
}

/** `inside`: how often it was given, and its variables. */
export function givenJob(
  job: QueueJob,
  queue: Queue,
  facts: MachineFacts,
  { turns, env }: { readonly turns: number; readonly env: Readonly<Record<string, string>> },
): GivenJob {
  return {
    job: { ...engineJob(job, queue, facts), turn: turns },
    kind: kindOf(job.need),
    env: envForJob(env, job, queue, facts.hasCards),
  };
}

/** The cards that a queue declares are no real ones, and only their names are known when the job starts. */
function envForJob(
  env: Readonly<Record<string, string>>,
  { need, terms }: QueueJob,
  { capacity }: Queue,
  hasCards: boolean,
): Readonly<Record<string, string>> {
  if (need.gpu === null || terms.envNames?.includes(CARDS)) return env;
  const { [CARDS]: _, ...others } = env;
  return capacity?.gpu === undefined || hasCards ? others : { ...others, [CARDS]: "{gpu}" };
}

const CARDS = "CUDA_VISIBLE_DEVICES";
