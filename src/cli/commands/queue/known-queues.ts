// The names of queues and of their jobs, for a shell to complete. Without a service there are none.

import type { KnownWord } from "../../../batch/name/known-machines.js";
import { queuedLabel, queueHead } from "../../../report/tables/queue-table.js";
import { addressOf, type JobPage, jobsPath, loadQueues } from "./queued-jobs.js";
import { findService } from "./service-here.js";

/** A completion asks no other computer. */
const HERE = { typed: "here", byDefault: null, tokenFile: null, hostKeys: null } as const;

const MOST_JOBS = 200;

export async function knownQueues(): Promise<KnownWord[]> {
  const client = await findService(HERE);
  if (client === null) return [];
  return (await loadQueues(client)).map((queue) => ({ word: queue.name, about: queueHead(queue) }));
}

/** The queues, or the newest jobs of the queue that the word begins with. */
export async function knownQueuedJobs(start: string): Promise<KnownWord[]> {
  const slash = start.indexOf("/");
  if (slash === -1) return knownQueues();
  const client = await findService(HERE);
  if (client === null) return [];
  const queue = start.slice(0, slash);
  const { jobs } = await client.get<JobPage>(jobsPath({ queue, limit: `${MOST_JOBS}` }));
  return jobs.map((job) => ({ word: addressOf(job), about: `${job.state}: ${queuedLabel(job)}` }));
}
