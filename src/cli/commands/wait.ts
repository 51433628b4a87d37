// `sshoal wait`: blocks until jobs have ended, and exits with how they did.

import type { Connector } from "../../batch/connector.js";
import { type BatchHere, loadBatches, resumeCommand } from "../../batch/find/batches-here.js";
import { refresh } from "../../batch/find/refresh.js";
import { type ChosenJobs, chooseJobs, type JobChoice } from "../../batch/name/choose-jobs.js";
import { loadLastWords } from "../../batch/output/last-words.js";
import { lookCloser } from "../../batch/output/look-closer.js";
import { type WaitedBatch, waitForJobs } from "../../batch/wait/wait-for-jobs.js";
import { ExitCode, UserError } from "../../errors.js";
import type { BatchStatus } from "../../model/batch-status.js";
import { outcomeAtHome, wordOf } from "../../model/standing.js";
import { waitedLines } from "../../report/lines/wait-lines.js";
import { statusJson } from "../../report/tables/status-lines.js";
import { formatDuration } from "../../report/text/amounts.js";
import { Results } from "../../run/home/results.js";
import type { WaitOptions } from "../options/wait-options.js";
import { readSurroundings } from "../read-surroundings.js";
import { lastingConnector } from "../terminal/connectors.js";
import { describeBatch } from "../terminal/describe-batch.js";
import { onEndingSignals } from "../terminal/ending-signals.js";
import { note } from "../terminal/note.js";
import { notifyOf } from "../terminal/notices.js";
import { tableLook } from "../terminal/table-look.js";
import { WaitingDisplay } from "../terminal/waiting-display.js";

export async function wait(options: WaitOptions): Promise<ExitCode> {
  const surroundings = readSurroundings();
  const results = new Results(surroundings.cwd);
  const { fleet, audience } = lastingConnector(surroundings, options, note);
  // Batches that use the same machine share its connection.
  const connect: Connector = async (machine, signal) => (await fleet.borrow(machine, signal)).session;
  const batches = loadBatches(results);
  if (options.jobs.states.length > 0) await Promise.all(batches.map((each) => refresh(each, connect)));
  const chosen = choose(batches, options.jobs);
  const giving = new AbortController();
  const stopListening = giveUpOn(giving, options.timeoutSeconds);
  const display = new WaitingDisplay();
  audience.onNote = (message) => display.note(message);
  audience.view = display;
  try {
    const waited = await waitForJobs(chosen, {
      results,
      connect,
      onNote: (message) => display.note(message),
      onProgress: ({ stem, state }) => display.noteState(stem, state),
      signal: giving.signal,
    });
    display.close();
    const statuses = await Promise.all(
      waited.map(async (each) => statusOf(each, await lastWordsOf(each, results, connect), surroundings)),
    );
    print(statuses, options.isJson);
    const batches = waited.map(({ here }) => here);
    await notifyOf(batches, surroundings);
    return exitCodeFor(waited, statuses);
  } finally {
    display.close();
    stopListening();
  }
}

/** Without a word, all batches are meant, each with the jobs that come to it. */
function choose(batches: readonly BatchHere[], jobs: JobChoice): ChosenJobs<BatchHere>[] {
  if (jobs.words.length + jobs.states.length > 0) return chooseJobs(batches, jobs);
  return batches.map((here) => ({ here, jobs: here.jobs, isWhole: true }));
}

/** Returns how to stop listening. */
function giveUpOn(giving: AbortController, timeoutSeconds: number | null): () => void {
  const interrupt = () =>
    giving.abort(new UserError("interrupted; the jobs go on", { exitCode: ExitCode.Interrupted }));
  const timer =
    timeoutSeconds === null
      ? null
      : setTimeout(
          () => giving.abort(timedOut(timeoutSeconds)),
          Math.min(timeoutSeconds * 1000, 2 ** 31 - 1),
        );
  const unlisten = onEndingSignals(interrupt);
  return () => {
    if (timer !== null) clearTimeout(timer);
    unlisten();
  };
}

function timedOut(seconds: number): UserError {
  const message = `the jobs had not ended after ${formatDuration(seconds * 1000)}, and go on`;
  return new UserError(message, { hint: "sshoal status", exitCode: ExitCode.TimedOut });
}

/** Machines are asked only for the output of failed jobs that is not here. */
async function lastWordsOf(
  { here, jobs }: WaitedBatch,
  results: Results,
  connect: Connector,
): Promise<BatchStatus["lastWords"]> {
  const failed = jobs.flatMap((id) => {
    const tracked = here.state.jobs.get(id);
    return tracked !== undefined && wordOf(tracked) === "failed" ? [tracked] : [];
  });
  if (failed.some((tracked) => outcomeAtHome(tracked) === undefined))
    return (await lookCloser(here, results, connect)).lastWords;
  return new Map(failed.slice(0, 100).map(({ job: { id, name } }) => [id, loadLastWords(results, name)]));
}

function statusOf(
  { here, jobs }: WaitedBatch,
  lastWords: BatchStatus["lastWords"],
  surroundings: ReturnType<typeof readSurroundings>,
): BatchStatus {
  const status = describeBatch(here, { lastWords, shortages: new Map(), unreached: [] }, surroundings);
  const wanted = new Set(jobs);
  return { ...status, jobs: status.jobs.filter(({ job }) => wanted.has(job)) };
}

function print(statuses: readonly BatchStatus[], isJson: boolean): void {
  const look = tableLook();
  if (isJson) process.stdout.write(linesOf(statuses.flatMap(statusJson)));
  else process.stderr.write(linesOf(statuses.flatMap((status) => waitedLines(status, look))));
}

function linesOf(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join("");
}

/** Throws UserError when jobs are left that will not end by themselves. */
function exitCodeFor(waited: readonly WaitedBatch[], statuses: readonly BatchStatus[]): ExitCode {
  const stuck = waited.find(({ open }) => open.size > 0);
  if (stuck !== undefined) throw openError(stuck);
  const isGood = statuses.every(({ jobs }) =>
    jobs.every(
      ({ state, isHere, dependency }) =>
        state === "succeeded" || (state === "skipped" && (isHere || dependency?.isUnneeded === true)),
    ),
  );
  return isGood ? ExitCode.Success : ExitCode.JobFailed;
}

/** No client can change anything about jobs that are left out: they are named only if no other job is open. */
function openError({ here, open }: WaitedBatch): UserError {
  const { leftOut } = here.state;
  const others = [...open].filter(([id]) => !leftOut.has(id));
  const [[, reason] = ["", ""], ...more] = others.length === 0 ? open : others;
  const what =
    more.length === 0
      ? `a job of ${here.stem} does not go on`
      : `${more.length + 1} jobs of ${here.stem} do not go on`;
  const hint = others.length === 0 ? "sshoal why" : resumeCommand(here);
  return new UserError(`${what}: ${reason}`, { hint, exitCode: ExitCode.JobFailed });
}
