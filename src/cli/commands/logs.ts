// `sshoal logs`: prints the output of jobs so far.

import type { Connector } from "../../batch/connector.js";
import { loadBatches } from "../../batch/find/batches-here.js";
import { refresh } from "../../batch/find/refresh.js";
import type { Unreached } from "../../batch/machine/reach.js";
import { chooseJobs } from "../../batch/name/choose-jobs.js";
import { showOutput } from "../../batch/output/job-output.js";
import { ExitCode, UserError } from "../../errors.js";
import type { Job } from "../../model/job.js";
import { printable } from "../../report/text/printable.js";
import { Results } from "../../run/home/results.js";
import type { LogsOptions } from "../options/batch-commands.js";
import { readSurroundings } from "../read-surroundings.js";
import { ReaderLeft, writeTo } from "../terminal/byte-sink.js";
import { lastingConnector } from "../terminal/connectors.js";
import { jsonSink } from "../terminal/json-log.js";
import { LogPrinter, type LogSink, lastOf } from "../terminal/log-printer.js";
import { note } from "../terminal/note.js";

export async function showLogs(options: LogsOptions): Promise<ExitCode> {
  const surroundings = readSurroundings();
  const results = new Results(surroundings.cwd);
  const { fleet } = lastingConnector(surroundings, options, note);
  // Jobs of one machine share its connection.
  const connect: Connector = async (machine, signal) => (await fleet.borrow(machine, signal)).session;
  const batches = loadBatches(results);
  if (options.jobs.states.length > 0) await Promise.all(batches.map((each) => refresh(each, connect)));
  const chosen = chooseJobs(batches, options.jobs).flatMap(({ here: { stem, batch }, jobs }) =>
    jobs.map((job) => ({ stem, batch, job })),
  );
  const { streams, follows } = options;
  const sinkFor = sinks(options, chosen.length > 1);
  const show = async ({ stem, ...about }: { stem: string; batch: string; job: Job }) => {
    const { job } = about;
    const shown = streams.map((stream) => ({ stream, sink: sinkFor(about, stream) }));
    const order = { job, stem, results, streams: shown, follows, connect, onNote: note };
    const unreached = await showOutput(order);
    for (const { sink } of shown) await sink.end();
    return unreached;
  };
  const unreached = await all(chosen, show, follows).catch((error: unknown) => {
    if (!(error instanceof ReaderLeft)) throw error;
    return [];
  });
  const first = unreached.find((each) => each !== null);
  if (first) throw cannotReach(first);
  return ExitCode.Success;
}

type SinkFor = (about: { batch: string; job: Job }, stream: "out" | "err") => LogSink;

/** `names`: of several jobs, it is said whose line it is. */
function sinks({ streams, follows, tail, isJson }: LogsOptions, names: boolean): SinkFor {
  const write = writeTo(process.stdout);
  if (isJson)
    return ({ batch, job: { id, name } }, stream) =>
      lastOf(jsonSink(write, { batch, job: id, name, stream }), tail);
  const printer = new LogPrinter(write, { names, follows, tail });
  return ({ job }, stream) => printer.sinkFor(job.name, stream, streams.length > 1);
}

/** At the same time while they are followed, else one after the other. */
async function all<T, R>(items: readonly T[], use: (item: T) => Promise<R>, isAtOnce: boolean): Promise<R[]> {
  if (isAtOnce) return Promise.all(items.map(use));
  const answers: R[] = [];
  for (const item of items) answers.push(await use(item));
  return answers;
}

function cannotReach({ machine, reason, hint }: Unreached): UserError {
  return new UserError(`${printable(machine)} cannot be reached: ${printable(reason)}`, {
    ...(hint !== null && { hint }),
    exitCode: ExitCode.NoMachine,
  });
}
