// What a command line that asks for a batch asks of the run: for the client that it was typed for, and for one that follows
// the batch already.

import { stemFor } from "../../batch/batch-stem.js";
import { resolveCopying } from "../../batch/copy-paths.js";
import type { NextOrder } from "../../batch/followed-run.js";
import type { Typed } from "../../batch/follower/protocol.js";
import { machinesFor, type Surroundings } from "../../batch/surroundings.js";
import { readTree } from "../../batch/working-directory.js";
import { UserError } from "../../errors.js";
import { loadBatch } from "../../input/batch/load-batch.js";
import { Results } from "../../run/home/results.js";
import type { BatchOrder } from "../../run/order.js";
import { type Program, parseOptions } from "../options/options.js";
import type { RunOptions } from "../options/run-options.js";
import { applyScriptOptions } from "../options/script-options.js";
import { readCommands, sweepJobs } from "./read-sweep.js";

export type GivenJobs = Pick<BatchOrder, "jobs" | "jobEnv">;

/** What is typed where the batch is followed: the file is read again. `stem`: of the batch. Throws UserError when it is another one. */
export async function orderTyped(
  { program, argv, env }: Typed,
  surroundings: Surroundings,
  stem: string,
): Promise<NextOrder> {
  const invocation = parseOptions({ program: program as Program, argv, env });
  if (invocation.command === "sweep" && invocation.options.run !== null) {
    const { source, run } = invocation.options;
    const { jobs, script, ...about } = sweepJobs(await readCommands(invocation.options), source);
    if (about.stem === stem) return orderForJobs({ jobs }, { ...run, script }, surroundings);
  }
  if (invocation.command === "run") {
    const { script } = invocation.options;
    if (stemFor(script, new Results(surroundings.cwd)) === stem) {
      const { options, ...given } = applyScriptOptions(await loadBatch(script, stem), invocation.revise, env);
      return orderForJobs(given, options, surroundings);
    }
  }
  throw new UserError("the client that follows the batch was asked for another one", {
    hint: "sshoal status",
  });
}

/** `script` of the options: what the jobs are named for. */
export async function orderForJobs(
  { jobs, jobEnv }: GivenJobs,
  options: RunOptions,
  surroundings: Surroundings,
) {
  const machines = await machinesFor(options, surroundings);
  const copying = resolveCopying(options, surroundings.cwd);
  const tree = readTree(surroundings, copying, options.follows ? options.script : null);
  tree.catch(() => {}); // heard by the run, while machines are connected to
  const { script, requirement, timeoutSeconds, copiesUnchanged, env, policy, rerun, keepsChanged } = options;
  return {
    script,
    jobs,
    settings: { requirement, timeoutSeconds, copiesUnchanged, ...copying },
    env,
    jobEnv: jobEnv ?? new Map(),
    tree,
    policy,
    matching: keepsChanged ? "name" : "command",
    rerun,
    machines,
  } as const;
}
