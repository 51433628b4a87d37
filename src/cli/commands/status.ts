// `sshoal status`: how far the batches of this directory are. It only looks: nothing is written, here or on machines.

import {
  type BatchHere,
  chooseBatch,
  describeHolder,
  loadBatches,
  resumeCommand,
} from "../../batch/batches-here.js";
import type { Connector } from "../../batch/connector.js";
import { batchTimes, jobStatuses } from "../../batch/job-status.js";
import { lookCloser } from "../../batch/look-closer.js";
import type { Surroundings } from "../../batch/surroundings.js";
import { ExitCode } from "../../errors.js";
import type { BatchStatus } from "../../model/batch-status.js";
import { statusJson, statusLines, unreachedText } from "../../report/tables/status-lines.js";
import { printable } from "../../report/text/printable.js";
import { tildePath } from "../../report/text/tilde-path.js";
import { Results } from "../../run/home/results.js";
import type { StatusOptions } from "../options/batch-commands.js";
import { readSurroundings } from "../read-surroundings.js";
import { connector } from "../terminal/connectors.js";
import { tableLook } from "../terminal/table-look.js";

export async function showStatus(options: StatusOptions): Promise<ExitCode> {
  const { batch, isJson } = options;
  const surroundings = readSurroundings();
  const all = loadBatches(new Results(surroundings.cwd));
  const chosen = batch === null ? all : [chooseBatch(all, batch)];
  const connect = connector(surroundings, options, warn);
  const statuses = await Promise.all(chosen.map((each) => statusOf(each, connect, surroundings)));
  if (isJson) for (const each of statuses.flatMap(({ unreached }) => unreached)) warn(unreachedText(each));
  const look = tableLook();
  const lines = statuses.flatMap((each) => (isJson ? statusJson(each) : statusLines(each, look)));
  process.stdout.write(lines.map((line) => `${line}\n`).join(""));
  return ExitCode.Success;
}

async function statusOf(
  batch: BatchHere,
  connect: Connector,
  { cwd, homeDir }: Surroundings,
): Promise<BatchStatus> {
  const closer = await lookCloser(batch, new Results(cwd), connect);
  const now = Date.now();
  return {
    batch: batch.batch,
    stem: batch.stem,
    directory: tildePath(batch.dir, homeDir),
    jobs: jobStatuses(batch, now),
    slots: batch.slots,
    ...batchTimes(batch.state, batch.holder !== null, now),
    follower: batch.holder === null ? null : describeHolder(batch.holder),
    command: resumeCommand(batch),
    ...closer,
  };
}

function warn(message: string): void {
  process.stderr.write(`WARNING: ${printable(message)}\n`);
}
