// Waits until jobs of queues are over: follows the events of the service, and asks again about jobs that an event names.

import type { Health } from "../../../api/queue-service.js";
import type { JobId } from "../../../model/job.js";
import type { QueueJob } from "../../../model/queue.js";
import type { JobWord } from "../../../model/standing.js";
import { ServiceError } from "../../../service/client/service-answer.js";
import type { ServiceClient } from "../../../service/client/service-client.js";
import { addressOf, type JobPage, jobsPath } from "./queued-jobs.js";

export function isOver(state: JobWord): boolean {
  return state !== "waiting" && state !== "running";
}

export interface WaitedJobs {
  /** As they ended, by QUEUE/ID. A job that was removed meanwhile is missing. */
  readonly ended: ReadonlyMap<string, QueueJob>;
}

/** Rejects with the reason of the signal. `onEnd`: is called as each ends. */
export async function waitForQueued(
  client: ServiceClient,
  jobs: readonly Pick<QueueJob, "queue" | "id">[],
  { signal, onEnd }: { readonly signal: AbortSignal; readonly onEnd?: (job: QueueJob) => void },
): Promise<WaitedJobs> {
  const open = new Map(jobs.map((job) => [addressOf(job), job]));
  const ended = new Map<string, QueueJob>();
  const look = async (some: readonly Pick<QueueJob, "queue" | "id">[]) => {
    const found = await loadById(client, some);
    for (const each of some) {
      const address = addressOf(each);
      const job = found.get(address);
      if (job !== undefined && !(isOver(job.state) && job.isHere)) continue;
      if (!open.delete(address) || job === undefined) continue;
      ended.set(address, job);
      onEnd?.(job);
    }
  };
  while (open.size > 0) {
    const { seq } = await client.get<Health>("/v1/health");
    await look([...open.values()]);
    if (open.size > 0) await followEnds(client, { after: seq, open, look, signal });
    signal.throwIfAborted();
  }
  return { ended };
}

interface Following {
  readonly after: number;
  readonly open: ReadonlyMap<string, Pick<QueueJob, "queue" | "id">>;
  readonly look: (some: readonly Pick<QueueJob, "queue" | "id">[]) => Promise<void>;
  readonly signal: AbortSignal;
}

/** Returns when none is open, when the signal aborts, or when events were missed. */
async function followEnds(client: ServiceClient, { after, open, look, signal }: Following): Promise<void> {
  const leaving = new AbortController();
  const leave = () => leaving.abort();
  signal.addEventListener("abort", leave);
  const due = new Map<string, Pick<QueueJob, "queue" | "id">>();
  let looking: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;
  let failure: unknown;
  const lookNow = () => {
    clearTimeout(timer);
    timer = undefined;
    looking = looking
      .then(async () => {
        const some = [...due.values()];
        due.clear();
        if (some.length > 0) await look(some);
        if (open.size === 0) leave();
        else lookSoon();
      })
      .catch((error: unknown) => {
        failure ??= error;
        leave();
      });
  };
  // One question is for all events of a while. At once if nothing else is waited for.
  const lookSoon = () => {
    if (due.size === open.size) lookNow();
    else if (due.size > 0) timer ??= setTimeout(lookNow, PACE_MS);
  };
  try {
    for await (const { kind, queue, job } of client.events(after, leaving.signal)) {
      if (job === undefined || kind === "job-started") continue;
      const waited = open.get(addressOf({ queue, id: job }));
      if (waited === undefined) continue;
      due.set(addressOf(waited), waited);
      lookSoon();
    }
  } catch (error) {
    if (!(error instanceof ServiceError && error.status === 410)) throw error;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", leave);
  }
  await looking;
  if (failure !== undefined) throw failure;
}

/** Short jobs end one after the other, and a question costs the service more than the end of one. */
const PACE_MS = 100;
const PAGE = 500;

async function loadById(
  client: ServiceClient,
  jobs: readonly Pick<QueueJob, "queue" | "id">[],
): Promise<Map<string, QueueJob>> {
  const byQueue = new Map<string, JobId[]>();
  for (const { queue, id } of jobs) {
    const ids = byQueue.get(queue);
    if (ids === undefined) byQueue.set(queue, [id]);
    else ids.push(id);
  }
  const found = new Map<string, QueueJob>();
  for (const [queue, ids] of byQueue) {
    for (let at = 0; at < ids.length; at += PAGE) {
      const some = ids.slice(at, at + PAGE).join(",");
      const page = await client.get<JobPage>(jobsPath({ queue, ids: some, limit: `${PAGE}` }));
      for (const job of page.jobs) found.set(addressOf(job), job);
    }
  }
  return found;
}
