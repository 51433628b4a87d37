// `sshoal stop`: stops jobs or batches, and prints what happened to each job.

import type { LastingConnector } from "../../batch/connector.js";
import { type BatchHere, loadBatches } from "../../batch/find/batches-here.js";
import { refresh } from "../../batch/find/refresh.js";
import type { Steering } from "../../batch/follow/steering.js";
import { chooseJobs } from "../../batch/name/choose-jobs.js";
import { stopFollowed } from "../../batch/stop/stop-followed.js";
import { type StopReport, type StopTrouble, stopHere } from "../../batch/stop/stop-here.js";
import { isOpen } from "../../batch/stop/stop-jobs.js";
import { ExitCode, UserError } from "../../errors.js";
import type { JobId } from "../../model/job.js";
import { createBareReporter } from "../../report/lines/bare-output.js";
import { stopJson, stopLines } from "../../report/lines/stop-lines.js";
import { printable } from "../../report/text/printable.js";
import { Results } from "../../run/home/results.js";
import type { StopOptions } from "../options/acting-commands.js";
import { readSurroundings } from "../read-surroundings.js";
import { lastingConnector } from "../terminal/connectors.js";
import { onEndingSignals } from "../terminal/ending-signals.js";
import { note } from "../terminal/note.js";
import { noticesFor } from "../terminal/notices.js";

export async function stop(options: StopOptions): Promise<ExitCode> {
  const surroundings = readSurroundings();
  const results = new Results(surroundings.cwd);
  const connector = lastingConnector(surroundings, options, note);
  const batches = loadBatches(results);
  if (options.jobs.states.length > 0)
    await Promise.all(batches.map((each) => refresh(each, connector.connect)));
  const isGoing = (here: BatchHere) => hasOpen(here, null);
  const chosen = chooseJobs(batches, options.jobs, isGoing).map(({ here, jobs, isWhole }) => ({
    here,
    jobs: isWhole ? null : jobs.map(({ id }) => id),
  }));
  const open = chosen.filter(({ here, jobs }) => hasOpen(here, jobs));
  if (open.length === 0) {
    const { words, states } = options.jobs;
    const what = [...words, ...states.map((state) => `--state ${state}`)].join(" ");
    throw new UserError(`nothing of ${what} is running or queued`, { hint: "sshoal status" });
  }
  const trouble: StopTrouble[] = [];
  for (const each of open) {
    const report = await stopOne({ ...each, results, connector, surroundings, isVerbose: options.isVerbose });
    const lines = options.isJson ? report.jobs.map(stopJson) : stopLines(report.jobs, each.here.stem);
    process.stdout.write(lines.map((line) => `${line}\n`).join(""));
    trouble.push(...report.trouble);
  }
  if (trouble[0] !== undefined) throw troubleError(trouble[0]);
  return ExitCode.Success;
}

function hasOpen({ state }: BatchHere, jobs: readonly JobId[] | null): boolean {
  return (jobs ?? [...state.jobs.keys()]).some((id) => isOpen(state.jobs.get(id)));
}

interface Stopping {
  readonly here: BatchHere;
  readonly jobs: readonly JobId[] | null;
  readonly results: Results;
  readonly connector: LastingConnector;
  readonly surroundings: ReturnType<typeof readSurroundings>;
  readonly isVerbose: boolean;
}

async function stopOne(stopping: Stopping): Promise<StopReport> {
  const { here, jobs, results, connector, surroundings, isVerbose } = stopping;
  if (here.holder !== null)
    return followed(await stopFollowed({ here, jobs, results, connect: connector.connect }));
  const reporter = createBareReporter({ stdout: process.stdout, stderr: process.stderr, isVerbose });
  const show: typeof reporter.show = (event, known) => {
    // They are part of the report.
    if (event.kind !== "machine-failed" && event.kind !== "machine-lost") reporter.show(event, known);
  };
  const attend = (steering: Steering) => onEndingSignals((signal) => steering.leave(signal));
  const viewer = { show, attend };
  const { notifier, settle } = noticesFor(surroundings, here.stem, null);
  const stopped = await stopHere({ here, jobs, results, connector, surroundings, viewer, notifier });
  await settle();
  return stopped;
}

/** The client that follows the batch stops those jobs as soon as it reaches their machine. */
function followed(jobs: StopReport["jobs"]): StopReport {
  const away = new Set(jobs.flatMap(({ end, machine }) => (end === "unreached" ? [machine ?? ""] : [])));
  const hint = "the client that follows the batch stops its jobs when it is back";
  return { jobs, trouble: [...away].map((machine) => ({ machine, reason: "it is unreachable", hint })) };
}

function troubleError({ machine, reason, hint }: StopTrouble): UserError {
  return new UserError(`${printable(machine)}: ${printable(reason)}`, {
    hint: hint ?? "type the same command again when it can be reached",
  });
}
