// `sshoal sweep` and `simple_hypersearch`: print the commands of a sweep, one per line, or run them.

import { ExitCode } from "../../errors.js";
import type { Program } from "../options/options.js";
import type { SweepOptions } from "../options/sweep-options.js";
import { readCommands } from "./read-sweep.js";

export async function sweep(options: SweepOptions, program: Program): Promise<number> {
  const commands = await readCommands(options);
  if (options.run === null) {
    process.stdout.write(commands.map(({ command }) => `${command}\n`).join(""));
    return ExitCode.Success;
  }
  const { runSweep } = await import("./run-sweep.js");
  return runSweep(commands, { source: options.source, run: options.run, program });
}
