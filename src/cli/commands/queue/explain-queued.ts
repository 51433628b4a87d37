// `sshoal why` for jobs of queues: asks the service why each waits, machine by machine.

import type { WaitingJob } from "../../../api/queue-service.js";
import { ExitCode } from "../../../errors.js";
import { queuedWhyJson, queuedWhyLines } from "../../../report/tables/queued-why-lines.js";
import type { WhyOptions } from "../../options/why-options.js";
import { tableLook } from "../../terminal/table-look.js";
import { withServer } from "./hint-elsewhere.js";
import { loadQueuedJobs, type OnQueue } from "./queued-jobs.js";

/** Of a whole queue, only the first waiting jobs are explained. */
const MOST_EXPLAINED = 10;

export async function explainQueued(
  { client, words }: OnQueue,
  { isJson, server }: WhyOptions,
): Promise<ExitCode> {
  const isWhole = words.some(({ jobs }) => jobs === null);
  const jobs = await loadQueuedJobs(client, words, isWhole ? ["waiting"] : []);
  const inOrder = jobs.toSorted((one, other) => other.priority - one.priority || one.id - other.id);
  const asked = isWhole ? inOrder.slice(0, MOST_EXPLAINED) : jobs;
  const { rowColumns } = tableLook();
  const lines: string[] = [];
  for (const { queue, id } of asked) {
    const waiting = await client.get<WaitingJob>(`/v1/jobs/${queue}/${id}/why`);
    if (isJson) lines.push(queuedWhyJson(waiting));
    else lines.push(...(lines.length > 0 ? [""] : []), ...queuedWhyLines(waiting, rowColumns));
  }
  const more = jobs.length - asked.length;
  if (more > 0 && !isJson) lines.push("", `${more} more wait: sshoal show ${asked[0]?.queue ?? ""}`);
  const typed = isJson ? null : server.typed;
  process.stdout.write(lines.map((line) => `${withServer(line, typed)}\n`).join(""));
  return ExitCode.Success;
}
