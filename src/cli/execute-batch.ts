// `execute_batch`: reads what was asked for, and follows it to its end.

import type { ExitCode } from "../errors.js";
import { loadBatch } from "../input/load-batch.js";
import { Results } from "../run/results.js";
import { resolveCopying } from "./copy-paths.js";
import { dryRun } from "./dry-run.js";
import { followBatch } from "./follow-batch.js";
import { note } from "./note.js";
import type { RunOptions } from "./run-options.js";
import { machinesFor, openConnector, readSurroundings } from "./surroundings.js";
import { readTree } from "./working-directory.js";

export async function executeBatch(options: RunOptions): Promise<ExitCode> {
  const surroundings = readSurroundings();
  const jobs = await loadBatch(options.script);
  const machines = await machinesFor(options, surroundings);
  const copying = resolveCopying(options, surroundings.cwd);
  if (options.isDryRun) return dryRun({ jobs, machines, options, surroundings });
  const tree = await readTree(surroundings, copying);
  const results = new Results(surroundings.cwd);
  await results.prepare();
  return followBatch({
    order: { ...options, jobs, machines, ...copying, tree, results },
    surroundings,
    options,
    connector: openConnector(surroundings, options, note),
    isEnough: (run, { kind }) =>
      options.detaches && (kind === "jobs-handed-over" || kind === "run-resumed") && run.isHandedOver(),
  });
}
