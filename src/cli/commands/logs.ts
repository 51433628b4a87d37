// `sshoal logs`: prints what a job has printed so far.

import { loadBatches } from "../../batch/batches-here.js";
import { findJob } from "../../batch/find-job.js";
import { showOutput } from "../../batch/job-output.js";
import type { Unreached } from "../../batch/reach.js";
import { ExitCode, UserError } from "../../errors.js";
import { printable } from "../../report/text/printable.js";
import { Results } from "../../run/home/results.js";
import type { LogsOptions } from "../options/batch-commands.js";
import { readSurroundings } from "../read-surroundings.js";
import { ReaderLeft, writeTo } from "../terminal/byte-sink.js";
import { connector } from "../terminal/connectors.js";
import { note } from "../terminal/note.js";

export async function showLogs(options: LogsOptions): Promise<ExitCode> {
  const { job: word, stream, follows } = options;
  const surroundings = readSurroundings();
  const results = new Results(surroundings.cwd);
  const { stem, job } = findJob(loadBatches(results), word);
  const write = writeTo(process.stdout);
  const connect = connector(surroundings, options, note);
  const order = { job, stem, results, stream, follows, write, connect, onNote: note };
  const unreached = await showOutput(order).catch((error: unknown) => {
    if (!(error instanceof ReaderLeft)) throw error;
    return null;
  });
  if (unreached !== null) throw cannotReach(unreached);
  return ExitCode.Success;
}

function cannotReach({ machine, reason, hint }: Unreached): UserError {
  return new UserError(`${printable(machine)} cannot be reached: ${printable(reason)}`, {
    ...(hint !== null && { hint }),
    exitCode: ExitCode.NoMachine,
  });
}
