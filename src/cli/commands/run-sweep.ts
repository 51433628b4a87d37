// `sshoal sweep --run`: the commands of a sweep as a batch, each job with its parameters.

import type { SweepCommand } from "../../sweep/commands.js";
import type { Program } from "../options/options.js";
import type { SweepOptions } from "../options/sweep-options.js";
import { executeJobs } from "./execute-script.js";
import { sweepJobs } from "./read-sweep.js";

interface SweepToRun {
  readonly source: SweepOptions["source"];
  readonly run: NonNullable<SweepOptions["run"]>;
  readonly program: Program;
}

export async function runSweep(
  commands: readonly SweepCommand[],
  { source, run, program }: SweepToRun,
): Promise<number> {
  const { script, stem, jobs } = sweepJobs(commands, source);
  return executeJobs({ jobs }, { options: { ...run, script }, stem, program });
}
