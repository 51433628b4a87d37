// Turns a command line that asks for a batch into an order: for the client in whose terminal it was typed, or for one
// that already follows the batch.

import { stemFor } from "../../batch/find/batch-stem.js";
import type { NextOrder } from "../../batch/follow/followed-run.js";
import type { Typed } from "../../batch/follower/protocol.js";
import { resolveCopying } from "../../batch/forward/copy-paths.js";
import { type AskedJobs, keepingCopy, resolveOwnCopying } from "../../batch/forward/own-copying.js";
import { readTrees, treeReader } from "../../batch/forward/working-directory.js";
import { machinesFor, type Surroundings } from "../../batch/surroundings.js";
import { UserError } from "../../errors.js";
import { bashAt } from "../../input/batch/ask-bash.js";
import { checkCommands } from "../../input/batch/check-commands.js";
import { loadBatch } from "../../input/batch/load-batch.js";
import { Results } from "../../run/home/results.js";
import type { BatchOrder } from "../../run/order.js";
import { loadConfig } from "../options/config/load-config.js";
import type { Environment } from "../options/option-values.js";
import { type Program, parseOptions } from "../options/options.js";
import type { Revise } from "../options/revise-run.js";
import type { RunOptions } from "../options/run-options.js";
import { applyScriptOptions, type ScriptOptions } from "../options/script-options.js";
import { readCommands, sweepJobs } from "./read-sweep.js";

export interface GivenJobs extends Pick<BatchOrder, "jobs" | "jobEnv"> {
  /** Paths of single jobs, as typed; absent: none has any. */
  readonly own?: AskedJobs["own"];
}

/**
 * For a command typed while the batch is followed: the file is read again. `stem`: of the batch. Throws UserError if it
 * is another one.
 */
export async function orderTyped(
  { program, argv, env }: Typed,
  surroundings: Surroundings,
  stem: string,
): Promise<NextOrder> {
  const config = await loadConfig();
  const invocation = parseOptions({ program: program as Program, argv, env, config });
  if (invocation.command === "sweep" && invocation.options.run !== null) {
    const { source, run } = invocation.options;
    const { jobs, script, ...about } = sweepJobs(await readCommands(invocation.options), source);
    if (about.stem === stem) return orderForJobs({ jobs }, { ...run, script }, surroundings);
  }
  if (invocation.command === "run") {
    const { script } = invocation.options;
    if (stemFor(script, new Results(surroundings.cwd)) === stem) {
      const { options, ...given } = await readScript({ script, stem, revise: invocation.revise, env });
      return orderForJobs(given, options, surroundings);
    }
  }
  throw new UserError("the client that follows the batch was asked for another one", {
    hint: "sshoal status",
  });
}

interface ScriptToRead {
  readonly script: string;
  readonly stem: string;
  readonly revise: Revise;
  readonly env: Environment;
}

/** Throws UserError with its mistakes. */
export async function readScript({ script, stem, revise, env }: ScriptToRead): Promise<ScriptOptions> {
  const read = applyScriptOptions(await loadBatch(script, stem), revise, env);
  if (read.options.isKabuki) await checkCommands(read.jobs, script, bashAt("bash"));
  return read;
}

/** Resolves what is copied, for all jobs and for those with their own paths. */
export function resolveJobs(
  { jobs, own = new Map() }: GivenJobs,
  options: RunOptions,
  { cwd }: Surroundings,
) {
  const copying = resolveCopying(options, cwd);
  return { copying, jobs: resolveOwnCopying({ jobs, own }, copying, cwd) };
}

/** `script` of the options: the prefix for the names of the jobs. */
export async function orderForJobs(given: GivenJobs, options: RunOptions, surroundings: Surroundings) {
  const machines = await machinesFor(options, surroundings);
  const { copying, jobs } = resolveJobs(given, options, surroundings);
  const followed = options.follows ? options.script : null;
  const trees = readTrees(surroundings, copying, jobs, followed);
  const { script, requirement, timeoutSeconds, copiesUnchanged, env, policy, rerun, keepsChanged } = options;
  const isInPlace = copying.inPlace !== null;
  const keepsDir = options.keepsDir && !isInPlace;
  const { mergesOutput, maxOutput, maxOld, envFromFiles, placing, wrap, limitsMemory } = options;
  const kept = {
    ...(keepsDir && { keepsDir }),
    ...(mergesOutput && { mergesOutput }),
    ...(Object.keys(placing).length > 0 && { placing }),
    ...(envFromFiles.length > 0 && { envFromFiles }),
    ...(maxOutput && { maxOutput }),
    ...(wrap !== null && { wrap }),
    ...(limitsMemory && { limitsMemory }),
    ...(maxOld !== null && { maxOld }),
  };
  return {
    script,
    jobs: isInPlace ? jobs.map((job) => keepingCopy(job, options.keepsDir)) : jobs,
    settings: { requirement, timeoutSeconds, copiesUnchanged, ...kept, ...copying },
    env,
    jobEnv: given.jobEnv ?? new Map(),
    trees,
    readTree: treeReader(surroundings, copying, followed),
    policy,
    matching: keepsChanged ? "name" : "command",
    rerun,
    machines,
  } as const;
}
