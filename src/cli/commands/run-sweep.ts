// `sshoal sweep --run`: the commands of a sweep as a batch, each job with its parameters.

import { createHash } from "node:crypto";
import { stemFor } from "../../batch/batch-stem.js";
import type { ExitCode } from "../../errors.js";
import { Results } from "../../run/home/results.js";
import type { SweepCommand } from "../../sweep/commands.js";
import type { SweepOptions } from "../options/sweep-options.js";
import { executeJobs } from "./execute-script.js";

const DIGITS = 6;

export async function runSweep(
  commands: readonly SweepCommand[],
  source: SweepOptions["source"],
  options: NonNullable<SweepOptions["run"]>,
): Promise<ExitCode> {
  const script = source.kind === "file" ? source.path : nameFor(commands);
  const stem = source.kind === "file" ? stemFor(script, new Results(process.cwd())) : script;
  const jobs = commands.map((each, index) => ({
    id: index + 1,
    line: null,
    name: `${stem}.${index + 1}`,
    ...each,
  }));
  return executeJobs({ jobs }, { ...options, script });
}

/** What was typed has no file to be named for. The same commands are the same batch, and others another. */
function nameFor(commands: readonly SweepCommand[]): string {
  const text = commands.map(({ command }) => command).join("\n");
  return `sweep-${createHash("sha256").update(text).digest("hex").slice(0, DIGITS)}`;
}
