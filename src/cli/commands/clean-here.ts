// `sshoal clean --here`: shows what sshoal keeps on this computer, and removes what is of no use.

import { cleanComputer } from "../../batch/clean/clean-computer.js";
import { ExitCode } from "../../errors.js";
import type { KeptHere } from "../../model/kept-here.js";
import { formatKeptHere, keptHereJson } from "../../report/tables/kept-here-table.js";
import { Results } from "../../run/home/results.js";
import type { CleanHereOptions } from "../options/clean-here-options.js";
import { readSurroundings } from "../read-surroundings.js";

export async function cleanThisComputer(options: CleanHereOptions): Promise<ExitCode> {
  const { cwd, cacheDir, stateDir, socketDirs } = readSurroundings();
  const { batches, maxOld, isDryRun, isJson } = options;
  const results = new Results(cwd);
  const order = { results, cacheDir, stateDir, socketDirs, batches, maxOld, isDryRun, now: Date.now() };
  const rows: KeptHere[] = await cleanComputer(order);
  const text = isJson ? keptHereJson(rows) : formatKeptHere(rows, process.stdout.columns || 80);
  process.stdout.write(text);
  return ExitCode.Success;
}
