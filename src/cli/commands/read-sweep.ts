// Makes the commands of a sweep, and the jobs for them.

import { createHash, randomInt } from "node:crypto";
import { stemFor } from "../../batch/find/batch-stem.js";
import { parseSweepWords } from "../../input/sweep/sweep-words.js";
import type { Job } from "../../model/job.js";
import type { Sweep } from "../../model/sweep.js";
import { Results } from "../../run/home/results.js";
import { formatCommands, type SweepCommand } from "../../sweep/commands.js";
import type { SweepOptions } from "../options/sweep-options.js";

const DIGITS = 6;

export async function readCommands(options: SweepOptions): Promise<SweepCommand[]> {
  const { byDefault } = options;
  const read = await readSweep(options);
  return formatCommands(
    {
      ...read,
      samples: options.samples ?? read.samples ?? byDefault.samples,
      seed: options.seed ?? read.seed,
      samplingMode: options.samplingMode ?? read.samplingMode,
    },
    { ...byDefault, seed: byDefault.seed ?? randomInt(2 ** 47) },
  );
}

async function readSweep({ source, run }: SweepOptions): Promise<Sweep> {
  const passed = new Set(["gpu", ...Object.keys(run?.requirement.resources ?? {})]);
  if (source.kind === "file") {
    // The YAML parser is half of the code to load, and a typed command does not need it.
    const { loadSweep } = await import("../../input/sweep/load-sweep.js");
    return loadSweep(source.path, passed);
  }
  const typed = parseSweepWords(source.command, source.parameters, passed);
  return { ...typed, when: [], reject: [], samples: null, seed: null, samplingMode: null };
}

/** `script`: the prefix for the names of the jobs. */
export function sweepJobs(
  commands: readonly SweepCommand[],
  source: SweepOptions["source"],
): { readonly script: string; readonly stem: string; readonly jobs: readonly Job[] } {
  const script = source.kind === "file" ? source.path : nameFor(commands);
  const stem = source.kind === "file" ? stemFor(script, new Results(process.cwd())) : script;
  const jobs = commands.map((each, index) => ({
    id: index + 1,
    line: null,
    name: `${stem}.${index + 1}`,
    ...each,
  }));
  return { script, stem, jobs };
}

/** A typed sweep has no file to be named for. The same commands are the same batch, and other commands another one. */
function nameFor(commands: readonly SweepCommand[]): string {
  const text = commands.map(({ command }) => command).join("\n");
  return `sweep-${createHash("sha256").update(text).digest("hex").slice(0, DIGITS)}`;
}
