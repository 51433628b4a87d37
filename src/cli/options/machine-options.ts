// The options of every command that measures machines: which machines, and what a job needs of them.

import type { Command } from "commander";
import type { MachineChoice } from "../../batch/surroundings.js";
import type { Requirement } from "../../model/job.js";
import { describeRequirement, type RawRequirement, resolveRequirement } from "./requirement-options.js";
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
  readonly isJson: boolean;
  readonly isVerbose: boolean;
}

export interface RawMachines extends RawChoice, RawSsh, RawRequirement {
  readonly json?: true;
  readonly verbose?: true;
}

export function describeProbe(command: Command): Command {
  command.description("Print the free resources of each machine, and how many jobs would fit.");
  return describeMachines(command)
    .option("--json", "print one JSON object per machine")
    .option("-v, --verbose", "also print how each machine was reached");
}

export function describeDoctor(command: Command): Command {
  command.description("Check each machine, and print how to fix what would stop a batch.");
  return describeMachines(command)
    .option("--json", "print one JSON object per machine")
    .addHelpText("after", "\nExit codes: 0 all are fit, 1 some are not, 2 bad usage or input, 3 none is.");
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
    isJson: raw.json ?? false,
    isVerbose: raw.verbose ?? false,
  };
}
