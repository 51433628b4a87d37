// Turns the options of one job, of a command line or of `#@` lines, into what the service is asked for.

import { resolve } from "node:path";
import { UserError } from "../../../errors.js";
import { findLabelMistake } from "../../../input/batch/job-name.js";
import type { Capacities, JobAsk } from "../../../model/queue.js";
import type { RawScript } from "../option-reader.js";
import { type Environment, toAssignment } from "../option-values.js";
import { pathsIn } from "../path-words.js";
import { afterAsks } from "./after-words.js";
import { askedNeed } from "./asked-need.js";

/** Options that `#@` lines do not have come first. */
export interface RawJob extends RawScript {
  readonly priority?: number;
  readonly cwd?: string;
  readonly out?: string;
  readonly resultsHere?: true;
  readonly hold?: true;
}

export interface AskedOf {
  readonly queue: string;
  readonly capacity: Capacities | null;
  /** Of this shell, for `--env NAME`. */
  readonly env: Environment;
  /** Paths are relative to it. */
  readonly cwd: string;
}

/** A job with paths of its own, or that gets a copy of its directory. */
export interface AskedJob {
  readonly ask: JobAsk;
  /** As typed; null, here and below: not given. */
  readonly forward: readonly string[] | null;
  readonly backwards: readonly string[] | null;
}

/** `said`: without defaults. */
export function askedJob(command: string, said: Partial<RawJob>, of: AskedOf): AskedJob {
  return {
    ask: jobAsk(command, said, of),
    forward: pathsIn(said.copyForward),
    backwards: pathsIn(said.copyBackwards),
  };
}

function jobAsk(command: string, said: Partial<RawJob>, { queue, capacity, env, cwd }: AskedOf): JobAsk {
  const variables = [...(said.envByDefault ?? []), ...(said.env ?? [])];
  const after = afterAsks(said, queue);
  const terms = termsOf(said, cwd);
  return {
    command,
    need: askedNeed(said, capacity),
    ...(said.name !== undefined && { name: checkName(said.name) }),
    ...(said.cwd !== undefined && { cwd: resolve(cwd, said.cwd) }),
    ...(said.priority !== undefined && { priority: said.priority }),
    ...(after.length > 0 && { after }),
    ...(said.hold && { isHeld: true }),
    ...(Object.keys(terms).length > 0 && { terms }),
    ...(variables.length > 0 && {
      env: Object.fromEntries(variables.map((each) => toAssignment(each, env))),
    }),
  };
}

function termsOf(said: Partial<RawJob>, cwd: string): NonNullable<JobAsk["terms"]> {
  const { timeout, retries, maxOutput, limitMemory, wrap, merge, out, resultsHere, notify, keepDir } = said;
  return {
    ...(timeout !== undefined && { timeoutSeconds: timeout }),
    ...(retries !== undefined && { retries }),
    ...(maxOutput !== undefined && { maxOutput: maxOutput === "none" ? null : maxOutput }),
    ...(limitMemory !== undefined && { limitsMemory: limitMemory }),
    ...(wrap !== undefined && { wrap }),
    ...(merge !== undefined && { mergesOutput: merge }),
    ...(keepDir !== undefined && { keepsDir: keepDir }),
    ...(out !== undefined && { outFile: resolve(cwd, out) }),
    ...(resultsHere && { resultsHere }),
    ...(notify !== undefined && notify !== "" && { notify }),
  };
}

function checkName(name: string): string {
  const mistake = findLabelMistake(name);
  if (mistake === null) return name;
  throw new UserError(`--name ${name}: ${mistake.message}`, { hint: `for example ${mistake.instead}` });
}
