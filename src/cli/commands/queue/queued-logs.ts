// `sshoal logs` for jobs of queues: prints their output so far, or follows it.

import { ExitCode } from "../../../errors.js";
import type { QueueJob } from "../../../model/queue.js";
import type { LogsOptions } from "../../options/batch-commands.js";
import { ReaderLeft, writeTo } from "../../terminal/byte-sink.js";
import { jsonSink } from "../../terminal/json-log.js";
import { LogPrinter, type LogSink, lastOf } from "../../terminal/log-printer.js";
import { addressOf, loadQueuedJobs, type OnQueue } from "./queued-jobs.js";

export async function showQueuedLogs({ client, words }: OnQueue, options: LogsOptions): Promise<ExitCode> {
  const jobs = await loadQueuedJobs(client, words, options.jobs.states);
  const { streams, follows } = options;
  const sinkFor = sinks(options, jobs.length > 1);
  const leaving = new AbortController();
  const show = async (job: QueueJob) => {
    const shown = streams.map((stream) => ({ stream, sink: sinkFor(job, stream) }));
    const at = new Map<string, number>();
    for (const { stream, sink } of shown) {
      let from = 0;
      for await (const bytes of client.log(
        job.queue,
        job.id,
        { stream, from, follow: false },
        leaving.signal,
      )) {
        from += bytes.length;
        await sink.write(bytes);
      }
      at.set(stream, from);
      await sink.settle();
    }
    if (follows)
      await Promise.all(
        shown.map(async ({ stream, sink }) => {
          const which = { stream, from: at.get(stream) ?? 0, follow: true };
          for await (const bytes of client.log(job.queue, job.id, which, leaving.signal))
            await sink.write(bytes);
        }),
      );
    for (const { sink } of shown) await sink.end();
  };
  try {
    if (follows) await Promise.all(jobs.map(show));
    else for (const job of jobs) await show(job);
  } catch (error) {
    if (!(error instanceof ReaderLeft)) throw error;
  } finally {
    leaving.abort();
  }
  return ExitCode.Success;
}

type SinkFor = (job: QueueJob, stream: "out" | "err") => LogSink;

/** `names`: of several jobs, each line or heading names its job. */
function sinks({ streams, follows, tail, isJson }: LogsOptions, names: boolean): SinkFor {
  const write = writeTo(process.stdout);
  if (isJson)
    return (job, stream) =>
      lastOf(jsonSink(write, { batch: job.queue, job: job.id, name: addressOf(job), stream }), tail);
  const printer = new LogPrinter(write, { names, follows, tail });
  return (job, stream) => printer.sinkFor(addressOf(job), stream, streams.length > 1);
}
