// `sshoal wait` for jobs of queues, or for all jobs that a queue has now.

import { ExitCode, UserError } from "../../../errors.js";
import type { QueueJob } from "../../../model/queue.js";
import { queuedJobJson, queuedJobLine } from "../../../report/tables/queue-table.js";
import { formatDuration } from "../../../report/text/amounts.js";
import type { WaitOptions } from "../../options/wait-options.js";
import { note } from "../../terminal/note.js";
import { withServer } from "./hint-elsewhere.js";
import { queuedExitCode } from "./queued-exit-code.js";
import { addressOf, loadQueuedJobs, type OnQueue } from "./queued-jobs.js";
import { interruption } from "./wait-for-added.js";
import { isOver, waitForQueued } from "./wait-for-queued.js";

export async function waitOnQueue({ client, words }: OnQueue, options: WaitOptions): Promise<number> {
  const { isJson, timeoutSeconds, jobs: choice } = options;
  const isWhole = words.some(({ jobs }) => jobs === null) && choice.states.length === 0;
  const jobs = await loadQueuedJobs(client, words, isWhole ? ["waiting", "running"] : choice.states).catch(
    (error: unknown) => {
      // An empty queue has nothing to wait for.
      if (isWhole && error instanceof UserError) return [];
      throw error;
    },
  );
  noteHeld(jobs, options.server.typed);
  const giving = new AbortController();
  const { signal, stop } = interruption();
  const leave = () => giving.abort(signal.reason);
  signal.addEventListener("abort", leave);
  const timer =
    timeoutSeconds === null
      ? null
      : setTimeout(() => giving.abort(timedOut(timeoutSeconds)), timeoutSeconds * 1000);
  try {
    const { ended } = await waitForQueued(client, jobs, { signal: giving.signal });
    const all = jobs.flatMap((job) => ended.get(addressOf(job)) ?? []);
    if (isJson) process.stdout.write(all.map((job) => `${queuedJobJson(job)}\n`).join(""));
    else
      process.stderr.write(
        endLines(all)
          .map((line) => `${line}\n`)
          .join(""),
      );
    return queuedExitCode(all, jobs.length) === 0 ? ExitCode.Success : ExitCode.JobFailed;
  } finally {
    if (timer !== null) clearTimeout(timer);
    stop();
  }
}

const LISTED = 20;

/** Each that did not succeed, and the totals. */
function endLines(all: readonly QueueJob[]): string[] {
  const others = all.filter(({ state }) => state !== "succeeded");
  const more = others.length - LISTED;
  return [
    ...others.slice(0, LISTED).map(queuedJobLine),
    ...(more > 0 ? [`… and ${more} more`] : []),
    all.length === 0 ? "no job waits or runs" : `${all.length - others.length} of ${all.length} succeeded`,
  ];
}

function noteHeld(jobs: readonly QueueJob[], server: string | null): void {
  const held = jobs.filter(({ isHeld, state }) => isHeld && !isOver(state));
  const [first] = held;
  if (first === undefined) return;
  const which = held.length === 1 ? `${addressOf(first)} is held` : `${held.length} jobs are held`;
  note(withServer(`${which}, and will not start before sshoal release ${addressOf(first)}`, server));
}

function timedOut(seconds: number): UserError {
  const message = `the jobs had not ended after ${formatDuration(seconds * 1000)}, and go on`;
  return new UserError(message, { hint: "sshoal show", exitCode: ExitCode.TimedOut });
}
