// What `sshoal top` can be asked for.

import { Command } from "commander";
import type { MachineChoice } from "../../batch/surroundings.js";
import { withExamples, withNote } from "../help/examples.js";
import {
  describeChoice,
  describeSsh,
  type RawChoice,
  type RawSsh,
  resolveChoice,
  resolveSsh,
  type SshOptions,
} from "./ssh-options.js";

export interface TopInvocation {
  readonly command: "top";
  readonly options: TopOptions;
}

/** No machines: those of this directory's records, or this computer. */
export interface TopOptions extends MachineChoice, SshOptions {
  readonly isJson: boolean;
}

interface RawTop extends RawChoice, RawSsh {
  readonly json?: true;
}

const KEYS =
  "m sorts by memory, u by use, w by who uses it; the same key again restores the order of the machines. q leaves.";

export function describeTop(choose: (invocation: TopInvocation) => void): Command {
  const command = new Command("top")
    .summary("Watch cards, cores and memory of machines, and who uses them.")
    .description(
      "Watch the cards, cores and memory of machines, and who uses them: your jobs, other accounts' jobs, other processes. In a pipe, print this once.",
    );
  describeChoice(command, "default: the machines of this directory's batches, or this machine");
  describeSsh(command).option("--json", "print one JSON object per machine, once");
  withNote(command, "Keys", KEYS);
  return withExamples(command, [
    ["Watch the machines of this directory's batches", "sshoal top"],
    ["Print once what two machines do", "sshoal top --machines gpu1 gpu2 | cat"],
  ]).action((raw: RawTop) =>
    choose({
      command: "top",
      options: { ...resolveChoice(raw), ...resolveSsh(raw), isJson: raw.json ?? false },
    }),
  );
}
