// Runs one command on one machine as a batch, and chooses its exit code.

import { randomBytes } from "node:crypto";
import { constants } from "node:os";
import { UserError } from "../errors.js";
import { formatJobStem } from "../input/batch/job-name.js";
import type { Outcome } from "../model/job.js";
import { outcomeAtHome } from "../model/standing.js";
import type { Results } from "../run/home/results.js";
import { exitCodeOf } from "./exit-code.js";
import type { BatchHere } from "./find/batches-here.js";
import type { Ending, FollowOrder } from "./follow/follow-batch.js";
import { resolveCopying } from "./forward/copy-paths.js";
import { readTrees } from "./forward/working-directory.js";
import { type MachineChoice, machinesFor, type Surroundings } from "./surroundings.js";

export interface OneJob {
  readonly command: string;
  /** Null: a name is generated. */
  readonly jobName: string | null;
  readonly machine: string;
  readonly configFile: MachineChoice["configFile"];
  readonly copyForward: readonly string[];
  readonly copyBackwards: readonly string[];
}

/** It starts at once, whatever else runs on the machine. */
const NOTHING = { cpus: 0, memoryMb: 0, gpu: null, reservesMachine: false };
const POLICY = { retries: 0, retriesFailures: false, reassignAfterMs: null };

/** Throws UserError if results already have that name. */
export async function orderForOne(
  job: OneJob,
  results: Results,
  surroundings: Surroundings,
): Promise<FollowOrder> {
  const { command, machine, configFile, copyForward, copyBackwards } = job;
  const name = checkName(job.jobName ?? `remote-${randomBytes(4).toString("hex")}`, results);
  const specs = await machinesFor({ machines: [machine], configFile }, surroundings);
  const asked = { machines: [machine], copyForward, copyBackwards, copiesUnchanged: false };
  const settings = {
    requirement: NOTHING,
    timeoutSeconds: null,
    copiesUnchanged: false,
    ...resolveCopying(asked, surroundings.cwd),
  };
  const jobs = [{ id: 1, line: null, name, command }];
  return {
    script: name,
    stem: name,
    jobs,
    feed: null,
    settings,
    policy: POLICY,
    matching: "command",
    rerun: "stopped",
    env: {},
    machines: specs.map((spec) => ({ ...spec, mostSlots: 1 })),
    trees: readTrees(surroundings, settings, jobs),
    results,
  };
}

/** True for such a batch: its only job has its name. */
export function isOneJob({ stem, jobs }: Pick<BatchHere, "stem" | "jobs">): boolean {
  return jobs.length === 1 && jobs[0]?.name === stem;
}

/** A name that ends in a number could be that of a batch's job, and one that ends in `.old-1` or `.out` that of other results. */
const OF_OTHERS = /\.(\d+|out|err|old-\d+|again-\d+)$/;

function checkName(name: string, results: Results): string {
  if (formatJobStem(name) !== name || OF_OTHERS.test(name)) {
    throw new UserError(`--job-name ${name}: a name has only letters, digits, - and _`, {
      hint: `--job-name ${formatJobStem(name).replace(OF_OTHERS, "-$1")}`,
    });
  }
  if (!results.has(name)) return name;
  throw new UserError(`job_results/${name} exists already`, { hint: "give another --job-name" });
}

/** The command's own exit code, as in a shell; if it did not end, that of a batch. */
export function exitCodeOfOne(ending: Ending): number {
  // An earlier command may have had the same name.
  const jobs = ending.kind === "finished" ? [...ending.state.jobs.values()] : [];
  const tracked = jobs.find(({ traits }) => !traits.isGone);
  const outcome = tracked === undefined ? undefined : outcomeAtHome(tracked);
  return (outcome ? codeOf(outcome) : null) ?? exitCodeOf(ending);
}

function codeOf(outcome: Outcome): number | null {
  if (outcome.kind === "exited") return outcome.code;
  if (outcome.kind !== "killed") return null;
  const number = constants.signals[outcome.signal as NodeJS.Signals];
  return number === undefined ? null : 128 + number;
}
