// `execute_batch`: reads what was asked for, and follows it to its end.

import type { ExitCode } from "../errors.js";
import { loadBatch } from "../input/load-batch.js";
import { Results } from "../run/results.js";
import { resolveBackwards, resolveForward } from "./copy-paths.js";
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
  const copyForward = resolveForward(options.copyForward, surroundings.cwd);
  const copyBack = resolveBackwards(options.copyBackwards, surroundings.cwd);
  if (options.isDryRun) return dryRun({ jobs, machines, options, surroundings });
  const tree = readTree(surroundings, copyForward);
  tree.catch(() => {}); // heard by the run, while machines are connected to
  const results = new Results(surroundings.cwd);
  await results.prepare();
  return followBatch({
    order: { ...options, jobs, machines, copyForward, copyBack, tree, results },
    surroundings,
    options,
    connector: openConnector(surroundings, options, note),
    isEnough: (run, { kind }) =>
      options.detaches && (kind === "jobs-handed-over" || kind === "run-resumed") && run.isHandedOver(),
  });
}
