// Takes jobs into a run that has begun: those that arrive from its feed, and those that its caller gives.

import type { FeedPosition } from "../model/batch.js";
import type { TrackedJob } from "../model/batch-state.js";
import type { Job, JobId, Requirement } from "../model/job.js";
import { isStoppable } from "../model/standing.js";
import type { RunState } from "../plan/run-state.js";
import { type Kinds, kindsOf } from "../plan/slots/kinds.js";
import type { Arrival, Feed } from "./feed.js";
import type { Results } from "./home/results.js";
import type { Emit } from "./loop.js";
import { reopenJob } from "./reopen-job.js";

export type Env = Readonly<Record<string, string>>;

export interface AdmittingParts {
  readonly state: RunState;
  readonly feed: Feed | null;
  readonly results: Results;
  readonly jobs: Map<JobId, Job>;
  readonly jobEnv: Map<JobId, Env>;
  readonly kinds: Map<string, Requirement | undefined>;
  /** Finds out which machines could run jobs of these kinds. */
  readonly judge: (fresh: Kinds) => void;
  readonly emit: Emit;
}

export interface Admitting {
  add(arrivals: readonly Arrival[], position: FeedPosition | null): void;
  /** Throws if one of them is in progress: then nothing has changed. */
  give(jobs: readonly Job[], env: ReadonlyMap<JobId, Env>): void;
}

export function makeAdmitting({ state, feed, results, emit, ...parts }: AdmittingParts): Admitting {
  const admit = (jobs: readonly Job[], env: ReadonlyMap<JobId, Env>, position: FeedPosition | null) => {
    for (const job of jobs) {
      parts.jobs.set(job.id, job);
      const own = env.get(job.id);
      if (own === undefined) parts.jobEnv.delete(job.id);
      else parts.jobEnv.set(job.id, own);
    }
    const fresh = new Map([...kindsOf(jobs)].filter(([kind]) => !parts.kinds.has(kind)));
    for (const [kind, requirement] of fresh) parts.kinds.set(kind, requirement);
    // Jobs that no machine is known to serve would be dropped.
    if (fresh.size > 0) parts.judge(fresh);
    emit({ kind: "jobs-added", jobs, position });
  };
  const add = (arrivals: readonly Arrival[], position: FeedPosition | null) => {
    const taken = feed?.take(arrivals) ?? { jobs: [], env: new Map(), done: [], refused: [] };
    for (const { line, reason } of taken.refused) {
      emit({ kind: "warning", message: `${reason}; the job in line ${line} is left out` });
      emit({ kind: "job-refused", line, reason });
    }
    admit(taken.jobs, taken.env, position);
    for (const { id, outcome } of taken.done) emit({ kind: "job-skipped", job: id, outcome });
  };
  const give = (jobs: readonly Job[], env: ReadonlyMap<JobId, Env>) => {
    const busy = jobs.find(({ id }) => isInProgress(state.jobs.get(id)));
    if (busy !== undefined) throw new Error(`job ${busy.id} is given, and in progress`);
    for (const job of jobs) {
      // The event makes a job that is over wait again.
      if (state.jobs.has(job.id)) reopenJob(results, job, emit);
      else results.moveAside(job.name);
    }
    if (jobs.length > 0) admit(jobs, env, null);
  };
  return { add, give };
}

/** It may begin, runs, or has results to collect. */
function isInProgress(tracked: TrackedJob | undefined): boolean {
  if (tracked === undefined) return false;
  const { fate } = tracked;
  return fate.kind === "tried" && (isStoppable(tracked) || fate.stage.kind === "ended");
}
