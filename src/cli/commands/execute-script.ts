// `execute_batch`: reads what was asked for, and follows it to its end.

import { stemFor, stemOfFollowed } from "../../batch/batch-stem.js";
import { resolveCopying } from "../../batch/copy-paths.js";
import { type JobFeed, jobFeedFor } from "../../batch/job-feeds.js";
import { machinesFor } from "../../batch/surroundings.js";
import { readTree } from "../../batch/working-directory.js";
import type { ExitCode } from "../../errors.js";
import { loadBatch } from "../../input/batch/load-batch.js";
import { Results } from "../../run/home/results.js";
import type { BatchOrder } from "../../run/order.js";
import type { Revise, RunOptions } from "../options/run-options.js";
import { applyScriptOptions } from "../options/script-options.js";
import { readSurroundings } from "../read-surroundings.js";
import { lastingConnector } from "../terminal/connectors.js";
import { followHere } from "../terminal/follow-here.js";
import { note } from "../terminal/note.js";
import { dryRun } from "./dry-run.js";

export async function executeBatch(typed: RunOptions, revise: Revise): Promise<ExitCode> {
  const stem = (typed.follows ? stemOfFollowed : stemFor)(typed.script, new Results(process.cwd()));
  const feed = await jobFeedFor({ ...typed, stem }, process.stdin);
  if (feed !== null) return executeJobs({ jobs: [] }, typed, feed);
  const { options, ...given } = applyScriptOptions(await loadBatch(typed.script, stem), revise, process.env);
  return executeJobs(given, options);
}

/** `script` of the options: what the jobs are named for. `feed`: brings more of them. */
export async function executeJobs(
  { jobs, jobEnv }: Pick<BatchOrder, "jobs" | "jobEnv">,
  options: RunOptions,
  feed: JobFeed | null = null,
): Promise<ExitCode> {
  const surroundings = readSurroundings();
  const machines = await machinesFor(options, surroundings);
  const copying = resolveCopying(options, surroundings.cwd);
  if (options.isDryRun) return dryRun({ jobs, machines, options, surroundings });
  const tree = readTree(surroundings, copying, options.follows ? options.script : null);
  tree.catch(() => {}); // heard by the run, while machines are connected to
  const results = new Results(surroundings.cwd);
  await results.prepare();
  const takesStdin = feed?.takesStdin ?? false;
  const { script, requirement, timeoutSeconds, copiesUnchanged, env, policy, rerun } = options;
  return followHere({
    order: {
      script,
      jobs,
      feed: feed?.order ?? null,
      settings: { requirement, timeoutSeconds, copiesUnchanged, ...copying },
      env,
      ...(jobEnv && { jobEnv }),
      tree,
      policy,
      matching: options.keepsChanged ? "name" : "command",
      rerun,
      machines,
      results,
    },
    surroundings,
    options: { ...options, isTyped: takesStdin && process.stdin.isTTY },
    connector: lastingConnector(surroundings, options, note, !takesStdin),
    feed: feed?.bring,
    isEnough: (run, { kind }) => options.detaches && MAY_BE_ENOUGH.has(kind) && run.isHandedOver(),
  });
}

const MAY_BE_ENOUGH: ReadonlySet<string> = new Set([
  "jobs-handed-over",
  "jobs-taken-back",
  "run-resumed",
  "jobs-complete",
]);
