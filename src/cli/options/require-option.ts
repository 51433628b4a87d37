// The option --require, whose words may also stand for --num-cpus, --memory-required and --gpus-per-job.

import { type Command, Option } from "commander";
import { type AskedNeed, parseNeed } from "../../input/need/parse-need.js";

export function requireOption(): Option {
  return new Option(
    "--require <needs>",
    "set what each job needs of the machines' resources: '{licence: 1, nvme: 0.5}'",
  ).argParser((text) => parseNeed(text));
}

/** The options that words of --require set as well, by their names in `raw`. */
export function impliedBy({ cpus, memoryMb, gpuCount }: AskedNeed): [name: string, value: number][] {
  const words: [string, number | undefined][] = [
    ["numCpus", cpus],
    ["memoryRequired", memoryMb],
    ["gpusPerJob", gpuCount],
  ];
  return words.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]));
}

/** Of two words for the same need the later counts, as if one option were given twice. */
export function withImplied(command: Command): Command {
  return command.on("option:require", () => {
    const asked = command.getOptionValue("require") as AskedNeed;
    for (const [name, value] of impliedBy(asked)) command.setOptionValueWithSource(name, value, "cli");
  });
}
