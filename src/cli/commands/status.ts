// `sshoal status`: prints the progress of this directory's batches. It only reads: nothing is written, locally or on
// machines.

import {
  type BatchHere,
  chooseBatch,
  describeHolder,
  loadBatches,
  resumeCommand,
} from "../../batch/batches-here.js";
import type { Connector } from "../../batch/connector.js";
import { batchTimes, jobStatuses } from "../../batch/job-status.js";
import { refresh } from "../../batch/refresh.js";
import { ExitCode } from "../../errors.js";
import type { BatchStatus } from "../../model/batch-status.js";
import { statusJson, statusLines, unreachedText } from "../../report/tables/status-lines.js";
import { printable } from "../../report/text/printable.js";
import { Results } from "../../run/home/results.js";
import type { StatusOptions } from "../options/batch-commands.js";
import { readSurroundings } from "../read-surroundings.js";
import { connector } from "../terminal/connectors.js";

export async function showStatus(options: StatusOptions): Promise<ExitCode> {
  const { batch, isJson } = options;
  const surroundings = readSurroundings();
  const all = loadBatches(new Results(surroundings.cwd));
  const chosen = batch === null ? all : [chooseBatch(all, batch)];
  const connect = connector(surroundings, options, warn);
  const statuses = await Promise.all(chosen.map((each) => statusOf(each, connect)));
  if (isJson) for (const each of statuses.flatMap(({ unreached }) => unreached)) warn(unreachedText(each));
  const columns = process.stdout.columns || 80;
  // In a pipe, programs such as grep need whole reasons.
  const rowColumns = process.stdout.isTTY ? columns : Number.POSITIVE_INFINITY;
  const lines = statuses.flatMap((each) =>
    isJson ? statusJson(each) : statusLines(each, columns, rowColumns),
  );
  process.stdout.write(lines.map((line) => `${line}\n`).join(""));
  return ExitCode.Success;
}

async function statusOf(batch: BatchHere, connect: Connector): Promise<BatchStatus> {
  const unreached = await refresh(batch, connect);
  const now = Date.now();
  return {
    batch: batch.batch,
    jobs: jobStatuses(batch, now),
    ...batchTimes(batch.state, batch.holder !== null, now),
    follower: batch.holder === null ? null : describeHolder(batch.holder),
    command: resumeCommand(batch),
    unreached,
  };
}

function warn(message: string): void {
  process.stderr.write(`WARNING: ${printable(message)}\n`);
}
