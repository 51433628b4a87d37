// Asks the service for the jobs that words name.

import type { QueueInfo } from "../../../api/queue-service.js";
import { type JobTerm, parseJobTerms } from "../../../batch/name/job-terms.js";
import { UserError } from "../../../errors.js";
import { suggest } from "../../../input/suggest.js";
import type { QueueJob } from "../../../model/queue.js";
import type { JobWord } from "../../../model/standing.js";
import type { QueueWord } from "../../../plan/queue/choose-side.js";
import type { ServiceClient } from "../../../service/client/service-client.js";

const PAGE = 1000;

/** Jobs of queues, as a command line names them. */
export interface OnQueue {
  readonly client: ServiceClient;
  readonly words: readonly QueueWord[];
}

export interface JobPage {
  readonly seq: number;
  readonly jobs: readonly QueueJob[];
}

/** In the order of the words, and by id within one. Throws UserError for a word that names none. */
export async function loadQueuedJobs(
  client: ServiceClient,
  words: readonly QueueWord[],
  states: readonly JobWord[],
): Promise<QueueJob[]> {
  const found = new Map<string, QueueJob>();
  for (const word of words) {
    const jobs = await loadNamed(client, word);
    if (jobs.length === 0 && word.jobs !== null) throw await unknownJob(client, word);
    const wanted = jobs.filter(({ state }) => states.length === 0 || states.includes(state));
    for (const job of wanted.toSorted((one, other) => one.id - other.id)) found.set(addressOf(job), job);
  }
  if (found.size > 0) return [...found.values()];
  const which = words.map(({ queue, jobs }) => (jobs === null ? queue : `${queue}/${jobs}`)).join(" ");
  const state = states.length === 0 ? "known" : states.join(" or ");
  throw new UserError(`no job of ${which} is ${state}`, {
    hint: `sshoal show ${words[0]?.queue ?? ""}`.trim(),
  });
}

export function addressOf({ queue, id }: Pick<QueueJob, "queue" | "id">): string {
  return `${queue}/${id}`;
}

async function loadNamed(client: ServiceClient, { queue, jobs }: QueueWord): Promise<readonly QueueJob[]> {
  if (jobs === null) return loadAllJobs(client, { queue });
  const terms = parseJobTerms([jobs]);
  const pages = await Promise.all(terms.map((term) => loadAllJobs(client, { queue, ...queryOf(term) })));
  return pages.flat();
}

function queryOf(term: JobTerm): Readonly<Record<string, string>> {
  if (term.kind !== "range") return { names: term.word };
  return { ids: term.first === term.last ? `${term.first}` : `${term.first}-${term.last}` };
}

/** Page by page, because a queue can have a million jobs. */
export async function loadAllJobs(
  client: ServiceClient,
  query: Readonly<Record<string, string>>,
): Promise<QueueJob[]> {
  const all: QueueJob[] = [];
  for (;;) {
    const before = all.at(-1)?.id;
    const { jobs } = await client.get<JobPage>(
      jobsPath({ ...query, limit: `${PAGE}`, ...(before !== undefined && { before: `${before}` }) }),
    );
    all.push(...jobs);
    if (jobs.length < PAGE) return all;
  }
}

export function jobsPath(query: Readonly<Record<string, string>>): string {
  return `/v1/jobs?${new URLSearchParams(query)}`;
}

async function unknownJob(client: ServiceClient, { queue, jobs }: QueueWord): Promise<UserError> {
  const { jobs: last } = await client.get<JobPage>(jobsPath({ queue, limit: "200" }));
  const known = last.flatMap(({ id, name }) => (name === null ? [`${id}`] : [name, `${id}`]));
  const [nearest] = suggest(jobs ?? "", known);
  const hint = nearest === undefined ? `sshoal show ${queue}` : `did you mean ${queue}/${nearest}?`;
  return new UserError(`there is no job ${queue}/${jobs}`, { hint });
}

export async function loadQueues(client: ServiceClient): Promise<readonly QueueInfo[]> {
  return (await client.get<{ queues: readonly QueueInfo[] }>("/v1/queues")).queues;
}

export function unknownQueue(name: string, queues: readonly string[]): UserError {
  const [nearest] = suggest(name, queues);
  const hint =
    nearest === undefined ? `sshoal queue list, or sshoal queue create ${name}` : `did you mean ${nearest}?`;
  return new UserError(`there is no queue ${name}`, { hint });
}
