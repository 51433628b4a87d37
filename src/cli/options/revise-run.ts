// Joins the options in a batch file with those of the command line.

import type { Command } from "commander";
import type { Environment } from "./option-values.js";
import { resolveRun } from "./resolve-run.js";
import type { RawRun, RunOptions } from "./run-options.js";
import { typedIn } from "./typed-values.js";

/** The options in a batch file, for all of its jobs and for one of them. */
export type Revise = (forAll: Partial<RawRun>, own?: Partial<RawRun>) => RunOptions;

/**
 * The command line takes precedence over options for all jobs in a batch file; a job's own options take precedence over
 * both.
 */
export function reviser(script: string | undefined, raw: RawRun, command: Command, env: Environment): Revise {
  const typed = typedIn(raw, command);
  return (forAll, own = {}) => {
    const variables = [...(forAll.env ?? []), ...(raw.env ?? []), ...(own.env ?? [])];
    const whole = { ...raw, ...forAll, ...typed, ...needingGpu(own), ...own, env: variables };
    // A job that needs no card, or all of them, does not use the listed cards.
    if (own.gpuRequired === false || own.reserve) delete whole.gpus;
    return resolveRun(script, whole, command, env);
  };
}

/** A job with GPU options needs a GPU. */
function needingGpu(own: Partial<RawRun>): Partial<RawRun> {
  const { gpuMemoryRequired, gpuUtilization, gpusPerJob, gpuModel, gpuMemoryTotal } = own;
  const isNeeded = gpuMemoryRequired ?? gpuUtilization ?? gpusPerJob ?? gpuModel ?? gpuMemoryTotal;
  return isNeeded === undefined ? {} : { gpuRequired: true };
}
