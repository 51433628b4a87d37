// `sshoal status`: how far the batches of this directory are. It changes nothing, but runs what --notify left for their ends.

import { chooseBatch, loadBatches } from "../../batch/find/batches-here.js";
import { lookCloser } from "../../batch/output/look-closer.js";
import { ExitCode } from "../../errors.js";
import { statusJson, statusLines, unreachedText } from "../../report/tables/status-lines.js";
import { printable } from "../../report/text/printable.js";
import { Results } from "../../run/home/results.js";
import type { StatusOptions } from "../options/batch-commands.js";
import { readSurroundings } from "../read-surroundings.js";
import { connector } from "../terminal/connectors.js";
import { describeBatch } from "../terminal/describe-batch.js";
import { notifyOf } from "../terminal/notices.js";
import { tableLook } from "../terminal/table-look.js";

export async function showStatus(options: StatusOptions): Promise<ExitCode> {
  const { batch, isJson } = options;
  const surroundings = readSurroundings();
  const results = new Results(surroundings.cwd);
  const all = loadBatches(results);
  const chosen = batch === null ? all : [chooseBatch(all, batch)];
  const connect = connector(surroundings, options, warn);
  const statuses = await Promise.all(
    chosen.map(async (each) => describeBatch(each, await lookCloser(each, results, connect), surroundings)),
  );
  if (isJson) for (const each of statuses.flatMap(({ unreached }) => unreached)) warn(unreachedText(each));
  const look = tableLook();
  const lines = statuses.flatMap((each) => (isJson ? statusJson(each) : statusLines(each, look)));
  process.stdout.write(lines.map((line) => `${line}\n`).join(""));
  await notifyOf(chosen, surroundings);
  return ExitCode.Success;
}

function warn(message: string): void {
  process.stderr.write(`WARNING: ${printable(message)}\n`);
}
