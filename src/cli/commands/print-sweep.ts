// `sshoal sweep` and `simple_hypersearch`: print the commands of a sweep, one per line, run them, or add them to a queue.

import { ExitCode } from "../../errors.js";
import { jsonLine } from "../../report/lines/json-lines.js";
import type { SweepCommand } from "../../sweep/commands.js";
import type { Program } from "../options/options.js";
import type { SweepOptions } from "../options/sweep-options.js";
import { readCommands } from "./read-sweep.js";

export async function sweep(options: SweepOptions, program: Program): Promise<number> {
  const commands = await readCommands(options);
  if (options.enqueue !== null) {
    const { enqueueSweep } = await import("./queue/enqueue-sweep.js");
    return enqueueSweep(commands, options.enqueue);
  }
  if (options.run === null) {
    const lines = options.isJson ? sweepJson(commands) : commands.map(({ command }) => command);
    process.stdout.write(lines.map((line) => `${line}\n`).join(""));
    return ExitCode.Success;
  }
  const { runSweep } = await import("./run-sweep.js");
  return runSweep(commands, { source: options.source, run: options.run, program });
}

/** One object per command, in the format that docs/json-events.md promises to keep. `job` is its number with --run. */
export function sweepJson(commands: readonly SweepCommand[]): string[] {
  return commands.map(({ command, parameters }, index) =>
    jsonLine({ kind: "sweep-command", job: index + 1, command, parameters }),
  );
}
