// Stops, retries, removes, holds or releases jobs of queues, or changes their priority, and prints what happened to each.

import { ExitCode, UserError } from "../../../errors.js";
import type { Acted, JobVerb, QueueJob } from "../../../model/queue.js";
import { JOB_WORDS, type JobWord } from "../../../model/standing.js";
import { jsonLine } from "../../../report/lines/json-lines.js";
import { printable } from "../../../report/text/printable.js";
import { loadQueuedJobs, type OnQueue } from "./queued-jobs.js";

export interface ActOptions {
  readonly verb: JobVerb;
  readonly states: readonly JobWord[];
  /** With `priority`. */
  readonly priority: number | null;
  readonly isJson: boolean;
}

/** Of several jobs, only those in these states are meant. */
const MEANT: Readonly<Record<JobVerb, readonly JobWord[]>> = {
  stop: ["waiting", "running"],
  retry: JOB_WORDS.filter((word) => word !== "waiting" && word !== "running"),
  remove: JOB_WORDS.filter((word) => word !== "running"),
  hold: ["waiting"],
  release: ["waiting"],
  priority: ["waiting"],
};
const DONE: Readonly<Record<JobVerb, string>> = {
  stop: "stopped",
  retry: "runs again",
  remove: "removed",
  hold: "held",
  release: "released",
  priority: "priority",
};
const LISTED = 20;

export async function actOnQueued({ client, words }: OnQueue, options: ActOptions): Promise<ExitCode> {
  const { verb, states, priority, isJson } = options;
  refuseWhole(words, options);
  const isOne = words.every(({ jobs }) => jobs !== null && /^\d+$/.test(jobs));
  const meant = states.length > 0 || isOne ? states : MEANT[verb];
  const jobs = await loadQueuedJobs(client, words, meant);
  const results: Result[] = [];
  for (const [queue, ids] of idsByQueue(jobs)) {
    const asked = { verb, queue, ids, ...(priority !== null && { priority }) };
    const acted = await client.post<Acted>("/v1/act", asked);
    results.push(...acted.jobs.map((job) => ({ queue, ...job })));
  }
  const refused = results.filter((result) => result.refused !== undefined);
  if (!isJson && refused.length === results.length) throw refusal(verb, refused);
  const lines = isJson ? results.map((result) => resultJson(verb, result)) : resultLines(results, options);
  process.stdout.write(lines.map((line) => `${line}\n`).join(""));
  return refused.length === 0 ? ExitCode.Success : ExitCode.JobFailed;
}

type Result = Acted["jobs"][number] & { readonly queue: string };

/** A queue is quickly typed, and these cannot be undone. */
function refuseWhole(words: OnQueue["words"], { verb, states }: ActOptions): void {
  const whole = words.find(({ jobs }) => jobs === null)?.queue;
  if (whole === undefined || states.length > 0 || (verb !== "remove" && verb !== "retry")) return;
  throw new UserError(`${verb} all jobs of ${whole}?`, {
    hint: `sshoal ${verb} ${whole} --state failed, or all: sshoal ${verb} ${whole} --state ${MEANT[verb].join(",")}`,
  });
}

function idsByQueue(jobs: readonly QueueJob[]): Map<string, number[]> {
  const ids = new Map<string, number[]>();
  for (const { queue, id } of jobs) {
    const some = ids.get(queue);
    if (some === undefined) ids.set(queue, [id]);
    else some.push(id);
  }
  return ids;
}

function resultLines(results: readonly Result[], { verb, priority }: ActOptions): string[] {
  const done = priority === null ? DONE[verb] : `${DONE[verb]} ${priority}`;
  const more = results.length - LISTED;
  const lines = results
    .slice(0, LISTED)
    .map(({ queue, id, refused }) =>
      refused === undefined
        ? `${done}: ${queue}/${id}`
        : `not ${done}: ${queue}/${id}: ${printable(refused)}`,
    );
  return more > 0 ? [...lines, `… and ${more} more`] : lines;
}

function resultJson(verb: JobVerb, { queue, id, state, refused }: Result): string {
  return jsonLine({
    kind: "job-acted",
    verb,
    job: `${queue}/${id}`,
    queue,
    id,
    state,
    ...(refused && { refused }),
  });
}

function refusal(verb: JobVerb, [first, ...others]: readonly Result[]): UserError {
  const more = others.length === 0 ? "" : `, and ${others.length} more`;
  return new UserError(
    `${verb} ${first?.queue}/${first?.id}${more}: ${printable(first?.refused ?? "no such job")}`,
    {
      hint: `sshoal show ${first?.queue ?? ""}`,
    },
  );
}
