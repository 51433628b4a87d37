// The options of every command that measures machines: which machines, and what a job needs of them.

import type { Command } from "commander";
import type { MachineChoice } from "../../batch/surroundings.js";
import type { Placing } from "../../model/batch.js";
import type { Requirement } from "../../model/job.js";
import { withExamples, withNote } from "../help/examples.js";
import {
  describeRequirement,
  type RawRequirement,
  resolvePlacing,
  resolveRequirement,
} from "./requirement-options.js";
import {
  describeChoice,
  describeSsh,
  type RawChoice,
  type RawSsh,
  resolveChoice,
  resolveSsh,
  type SshOptions,
} from "./ssh-options.js";

/** No machines: this computer. */
export interface MachineOptions extends MachineChoice, SshOptions {
  readonly requirement: Requirement;
  readonly placing: Placing;
  /** The memory of the requirement is enforced. */
  readonly limitsMemory: boolean;
  readonly isJson: boolean;
  readonly isVerbose: boolean;
}

export interface RawMachines extends RawChoice, RawSsh, RawRequirement {
  readonly limitMemory?: boolean;
  readonly json?: true;
  readonly verbose?: true;
}

export function describeProbe(command: Command): Command {
  command.description("Print the free resources of each machine, and how many jobs would fit.");
  describeMachines(command)
    .option("--json", "print one JSON object per machine")
    .option("-v, --verbose", "print how each machine was reached as well");
  return withExamples(command, [
    [
      "Count the slots of two machines for jobs that need 3 GB of a GPU",
      "sshoal probe --machines gpu1 gpu2 --gpu-memory-required 3GB",
    ],
    ["Count the slots of this machine for jobs without a GPU", "sshoal probe --no-gpu-required"],
  ]);
}

export function describeDoctor(command: Command): Command {
  command.description("Check each machine, and print how to fix what would stop a batch.");
  describeMachines(command)
    .option("--limit-memory", "check whether run --limit-memory works as well")
    .option("--json", "print one JSON object per machine");
  withNote(command, "Exit codes", "0 all are fit, 1 some are not, 2 bad usage or input, 3 none is.");
  return withExamples(command, [
    ["Check two machines", "sshoal doctor --machines gpu1 ada@gpu2:2222"],
    ["Check this machine for jobs without a GPU", "sshoal doctor --no-gpu-required"],
  ]);
}

export function describeMachines(command: Command): Command {
  describeChoice(command, "default: this machine");
  return describeRequirement(describeSsh(command));
}

export function resolveMachines(raw: RawMachines): MachineOptions {
  return {
    ...resolveChoice(raw),
    ...resolveSsh(raw),
    requirement: resolveRequirement(raw),
    placing: resolvePlacing(raw),
    limitsMemory: raw.limitMemory ?? false,
    isJson: raw.json ?? false,
    isVerbose: raw.verbose ?? false,
  };
}
