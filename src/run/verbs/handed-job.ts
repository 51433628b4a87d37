// Turns a job into what a machine gets of it.

import type { BatchSettings } from "../../model/batch.js";
import { hasOwnFiles, type Job, kindOf, mergesOutputOf } from "../../model/job.js";
import type { MachineSpec } from "../../model/machine.js";
import { limitOfJob } from "../../model/output-limit.js";
import { wrapOfJob } from "../../model/wrapper.js";
import { placeholdersIn } from "../../plan/placeholders.js";
import type { HandedJob, Layer } from "../../remote/spool/hand-over.js";
import { jobScript } from "../../remote/spool/job-script.js";
import { needsOwnShell } from "../../remote/spool/own-shell.js";
import type { Terms } from "./terms.js";

interface Handing {
  readonly key: string;
  readonly job: Job;
  readonly spec: MachineSpec;
  readonly terms: Pick<Terms, "batch" | "settings" | "env" | "jobEnv">;
  readonly layers: readonly Layer[] | undefined;
}

export function handedJob({ key, job, spec, terms, layers }: Handing): HandedJob {
  const { batch, settings, jobEnv } = terms;
  const { requirement, maxOutput, inPlace } = settings;
  const env = jobEnv?.get(job.id) ?? terms.env;
  const cwd = inPlace === null || hasOwnFiles(job) ? undefined : job.cwd;
  const wrap = wrapOfJob(job, settings, spec);
  const names = placeholdersIn([job.command, ...Object.values(env)], job.requirement ?? requirement);
  // A fork runs in the slot's directory, so it cannot resume another one.
  const memoryLimitMb = memoryLimitOf(job, settings);
  const isPlain =
    [spec.setup, wrap, names].every(({ length }) => length === 0) &&
    layers === undefined &&
    memoryLimitMb === undefined;
  return {
    key,
    script: jobScript(job, spec, batch, env, {
      mergesOutput: mergesOutputOf(job, settings),
      wrap,
      cwd,
      names,
    }),
    needsOwnShell: !isPlain || needsOwnShell(job.command),
    timeoutSeconds: job.timeoutSeconds,
    maxOutput: limitOfJob(job, maxOutput) ?? undefined,
    memoryLimitMb,
    kind: kindOf(job.requirement),
    layers,
    names,
  };
}

/** In MB; undefined: none. A job that asks for no memory, as with --gpus, has nothing to enforce. */
function memoryLimitOf(job: Job, { limitsMemory = false, requirement }: BatchSettings): number | undefined {
  const { memoryMb } = job.requirement ?? requirement;
  return (job.limitsMemory ?? limitsMemory) && memoryMb > 0 ? Math.ceil(memoryMb) : undefined;
}
