// `sshoal status` for queues: whole queues as `show` draws them, or some of their jobs.

import { ExitCode } from "../../../errors.js";
import { abilitiesOf } from "../../../report/live/abilities.js";
import { formatSpans, lookOf } from "../../../report/live/styled-text.js";
import { queuedJobJson, queueRows } from "../../../report/tables/queue-table.js";
import type { StatusOptions } from "../../options/batch-commands.js";
import { loadQueuedJobs, type OnQueue } from "./queued-jobs.js";
import { showOn } from "./show.js";

export async function showQueuedStatus(
  { client, words }: OnQueue,
  options: StatusOptions,
): Promise<ExitCode> {
  const { isJson, batch } = options;
  const [word] = words;
  if (word?.jobs == null) {
    const queue = batch === null ? null : (word?.queue ?? null);
    return showOn(client, { queue, states: [], limit: null, isLive: false, isJson });
  }
  const jobs = await loadQueuedJobs(client, words, []);
  if (isJson) {
    process.stdout.write(jobs.map((job) => `${queuedJobJson(job)}\n`).join(""));
    return ExitCode.Success;
  }
  const { isTTY = false, columns, rows } = process.stdout;
  const look = lookOf(abilitiesOf({ isTTY, columns, rows, env: process.env }));
  const canvas = {
    columns: isTTY ? columns || 80 : Number.POSITIVE_INFINITY,
    rows: 0,
    now: Date.now(),
    look,
  };
  const { lines } = queueRows(jobs, { signs: look, columns: canvas.columns, now: canvas.now });
  process.stdout.write(lines.map((line) => `${formatSpans(line, canvas).trimEnd()}\n`).join(""));
  return ExitCode.Success;
}
