// `sshoal sweep` and `simple_hypersearch`: print the commands of a sweep, one a line, or run them.

import { randomInt } from "node:crypto";
import { ExitCode } from "../../errors.js";
import { parseSweepWords } from "../../input/sweep/sweep-words.js";
import type { Sweep } from "../../model/sweep.js";
import { formatCommands, type SweepCommand } from "../../sweep/commands.js";
import type { SweepOptions } from "../options/sweep-options.js";

export async function sweep(options: SweepOptions): Promise<ExitCode> {
  const commands = await readCommands(options);
  if (options.run === null) {
    process.stdout.write(commands.map(({ command }) => `${command}\n`).join(""));
    return ExitCode.Success;
  }
  const { runSweep } = await import("./run-sweep.js");
  return runSweep(commands, options.source, options.run);
}

async function readCommands(options: SweepOptions): Promise<SweepCommand[]> {
  const { byDefault } = options;
  const read = await readSweep(options);
  return formatCommands(
    {
      ...read,
      samples: options.samples ?? read.samples,
      seed: options.seed ?? read.seed,
      samplingMode: options.samplingMode ?? read.samplingMode,
    },
    { ...byDefault, seed: byDefault.seed ?? randomInt(2 ** 47) },
  );
}

async function readSweep({ source }: SweepOptions): Promise<Sweep> {
  if (source.kind === "file") {
    // The YAML parser is half of what would be loaded, and a command that is typed does without.
    const { loadSweep } = await import("../../input/sweep/load-sweep.js");
    return loadSweep(source.path);
  }
  const typed = parseSweepWords(source.command, source.parameters);
  return { ...typed, when: [], reject: [], samples: null, seed: null, samplingMode: null };
}
