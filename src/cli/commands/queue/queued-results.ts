// `sshoal results` for jobs of queues: the same table, with metrics from the output of each job.

import pLimit from "p-limit";
import { ExitCode, UserError } from "../../../errors.js";
import { DEFAULT_QUEUE, type QueueJob } from "../../../model/queue.js";
import type { Metrics, ResultRow } from "../../../model/result.js";
import { parseMetrics } from "../../../results/parse-metrics.js";
import type { ServiceClient } from "../../../service/client/service-client.js";
import type { ResultsOptions } from "../../options/batch-commands.js";
import { formatResults, refuseTerminal } from "../show-results.js";
import { addressOf, loadQueuedJobs, type OnQueue } from "./queued-jobs.js";

/** Output may be huge; the metrics are at its end. */
const TAIL_BYTES = 256 << 10;
/** Each log has a connection of its own. */
const LOGS_AT_ONCE = 8;

export async function showQueuedResults(
  { client, words }: OnQueue,
  options: ResultsOptions,
): Promise<ExitCode> {
  refuseTerminal(options);
  const [first] = words;
  if (first === undefined) {
    client.close();
    throw new UserError("which queue?", { hint: `sshoal results ${DEFAULT_QUEUE}/` });
  }
  const jobs = await loadQueuedJobs(client, words, []);
  const limit = pLimit(LOGS_AT_ONCE);
  const rows = await Promise.all(
    jobs.map((job) => limit(async () => rowOf(job, await metricsOf(client, job)))),
  );
  const facts = { batch: first.queue, isAllHere: true, spans: new Map(), now: Date.now() };
  process.stdout.write(formatResults(rows, facts, options));
  return ExitCode.Success;
}

function rowOf(job: QueueJob, metrics: Metrics): ResultRow {
  const { id, name, command, state, outcome, machine, attempt, startedAt, durationMs, footprint, terms } =
    job;
  return {
    job: id,
    name: addressOf(job),
    ...(name !== null && { label: name }),
    line: null,
    command,
    state,
    outcome,
    parameters: new Map(Object.entries(terms.parameters ?? {})),
    metrics,
    machine,
    slot: null,
    attempt,
    startedAt,
    durationMs,
    ...(footprint && { footprint }),
  };
}

/** Through the service, which may be on another computer. */
async function metricsOf(client: ServiceClient, { queue, id, attempt }: QueueJob): Promise<Metrics> {
  let tail = Buffer.alloc(0);
  let isCut = false;
  const from = { stream: "out", from: 0, follow: false } as const;
  const never = new AbortController().signal;
  for await (const bytes of attempt === 0 ? [] : client.log(queue, id, from, never)) {
    tail = Buffer.concat([tail, bytes]);
    if (tail.length > 2 * TAIL_BYTES) {
      tail = tail.subarray(-TAIL_BYTES);
      isCut = true;
    }
  }
  return parseMetrics({ tail: tail.toString("utf8"), isCut, file: null });
}
