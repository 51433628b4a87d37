// `enqueue --wait` and `--tee`: waits for the jobs that were added, and prints their output as it comes.

import { ExitCode, UserError } from "../../../errors.js";
import type { Enqueued } from "../../../model/queue.js";
import { queuedJobJson, queuedJobLine } from "../../../report/tables/queue-table.js";
import type { ServiceClient } from "../../../service/client/service-client.js";
import { writeTo } from "../../terminal/byte-sink.js";
import { onEndingSignals } from "../../terminal/ending-signals.js";
import { LogPrinter } from "../../terminal/log-printer.js";
import { queuedExitCode } from "./queued-exit-code.js";
import { waitForQueued } from "./wait-for-queued.js";

interface Showing {
  readonly tees: boolean;
  readonly isJson: boolean;
}

export async function waitForAdded(
  client: ServiceClient,
  { queue, ids }: Enqueued,
  { tees, isJson }: Showing,
): Promise<number> {
  const { signal, stop } = interruption();
  const jobs = ids.map((id) => ({ queue, id }));
  const printing = tees ? teeAll(client, { queue, ids }, signal) : Promise.resolve();
  try {
    const { ended } = await waitForQueued(client, jobs, { signal });
    await printing;
    const all = [...ended.values()];
    if (isJson) process.stdout.write(all.map((job) => `${queuedJobJson(job)}\n`).join(""));
    else process.stderr.write(all.map((job) => `${queuedJobLine(job)}\n`).join(""));
    return queuedExitCode(all, jobs.length);
  } finally {
    stop();
  }
}

/** Jobs go on when the waiting is interrupted. */
export function interruption(): { readonly signal: AbortSignal; readonly stop: () => void } {
  const leaving = new AbortController();
  const leave = () =>
    leaving.abort(new UserError("interrupted; the jobs go on", { exitCode: ExitCode.Interrupted }));
  return { signal: leaving.signal, stop: onEndingSignals(leave) };
}

/** Of one job, each stream goes to ours of the same name; of several, each line names its job. */
async function teeAll(client: ServiceClient, { queue, ids }: Enqueued, signal: AbortSignal): Promise<void> {
  const printer = new LogPrinter(writeTo(process.stdout), { names: true, follows: true, tail: null });
  const sinkFor = (id: number, stream: "out" | "err") =>
    ids.length > 1
      ? printer.sinkFor(`${queue}/${id}`, stream, true)
      : { write: writeTo(stream === "out" ? process.stdout : process.stderr), end: async () => {} };
  const streams = ids.flatMap((id) => (["out", "err"] as const).map((stream) => ({ id, stream })));
  await Promise.all(
    streams.map(async ({ id, stream }) => {
      const sink = sinkFor(id, stream);
      for await (const bytes of client.log(queue, id, { stream, from: 0, follow: true }, signal))
        await sink.write(bytes);
      await sink.end();
    }),
  );
}
