// Jobs and queues as users see them: the record, and what running generations know beyond it.

import type { QueueInfo } from "../../api/queue-service.js";
import type { JobId } from "../../model/job.js";
import type { Queue, QueueJob } from "../../model/queue.js";
import type { Ending } from "../queue/machine-sums.js";
import type { RunningQueues } from "../running-queues.js";
import type { ServiceDatabase } from "../store/open-database.js";
import { runsAgain } from "./job-ends.js";

export interface Seeing {
  readonly db: ServiceDatabase;
  readonly running: Pick<RunningQueues, "find">;
}

export function seenQueue(queue: Queue, usesThisComputer: boolean, seeing: Seeing): QueueInfo {
  const { db } = seeing;
  const counts = { ...db.jobs.counts(queue.name) };
  for (const [id, ending] of endingsOf(queue.name, seeing)) {
    const job = db.jobs.find(queue.name, id);
    if (job === null || !isEnd(job, ending)) continue;
    counts.running--;
    counts[ending.state]++;
  }
  const isElsewhere = queue.joinedOnly === true || queue.machines.length > 0 || queue.joined.length > 0;
  return { ...queue, counts, runsHere: usesThisComputer && !isElsewhere };
}

export function seenJobs(jobs: readonly QueueJob[], seeing: Seeing): QueueJob[] {
  const endings = new Map(
    [...new Set(jobs.map(({ queue }) => queue))].map((name) => [name, endingsOf(name, seeing)]),
  );
  return jobs.map((job) => {
    const ending = endings.get(job.queue)?.get(job.id);
    return ending === undefined || !isEnd(job, ending)
      ? withObstacle(job, seeing)
      : { ...job, ...ending, isHere: false };
  });
}

/** The record has the end of a job once its results are here. */
function endingsOf(queue: string, { running }: Seeing): Map<JobId, Ending> {
  const generations = running.find(queue)?.runner.generations ?? [];
  return new Map(generations.flatMap(({ endings }) => [...endings]));
}

/** The record does not have it yet, and it will be that of the job: it does not run once more. */
function isEnd(job: QueueJob, { outcome }: Ending): boolean {
  return job.state === "running" && outcome !== null && !runsAgain(job, outcome);
}

/** The reason of a job that waits may be that of its queue. */
function withObstacle(job: QueueJob, { db, running }: Seeing): QueueJob {
  if (job.state !== "waiting" || job.reason !== null) return job;
  const reason = db.queues.find(job.queue)?.isPaused
    ? "the queue is paused"
    : (running.find(job.queue)?.obstacle() ?? null);
  return { ...job, reason };
}
