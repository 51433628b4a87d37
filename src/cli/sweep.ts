// `sshoal sweep` and `simple_hypersearch`: print the commands of a sweep, one a line.

import { randomInt } from "node:crypto";
import { ExitCode } from "../errors.js";
import { parseSweepWords } from "../input/sweep-words.js";
import type { Sweep } from "../model/sweep.js";
import { formatCommands } from "../sweep/commands.js";
import type { SweepOptions } from "./sweep-options.js";

export async function printSweep(options: SweepOptions): Promise<ExitCode> {
  const { byDefault } = options;
  const sweep = await readSweep(options);
  const commands = formatCommands(
    {
      ...sweep,
      samples: options.samples ?? sweep.samples,
      seed: options.seed ?? sweep.seed,
      samplingMode: options.samplingMode ?? sweep.samplingMode,
    },
    { ...byDefault, seed: byDefault.seed ?? randomInt(2 ** 47) },
  );
  process.stdout.write(commands.map((command) => `${command}\n`).join(""));
  return ExitCode.Success;
}

async function readSweep({ source }: SweepOptions): Promise<Sweep> {
  if (source.kind === "file") {
    // The YAML parser is half of what would be loaded, and a command that is typed does without.
    const { loadSweep } = await import("../input/load-sweep.js");
    return loadSweep(source.path);
  }
  const typed = parseSweepWords(source.command, source.parameters);
  return { ...typed, when: [], reject: [], samples: null, seed: null, samplingMode: null };
}
