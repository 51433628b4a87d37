// The command line, read into one resolved, read-only value per command. Bad values never get past here.

import { Command, CommanderError } from "commander";
import { UserError } from "../errors.js";
import { type ActingInvocation, actingCommands } from "./acting-commands.js";
import { type BatchInvocation, batchCommands } from "./batch-commands.js";
import { VERSION } from "./help-text.js";
import type { Environment } from "./option-values.js";
import {
  describeDoctor,
  describeProbe,
  describeRun,
  type MachineOptions,
  type RawMachines,
  type RawRun,
  type RunOptions,
  resolveMachines,
  resolveRun,
} from "./run-options.js";

export type Invocation =
  | { readonly command: "run"; readonly options: RunOptions }
  | { readonly command: "probe"; readonly options: MachineOptions }
  | { readonly command: "doctor"; readonly options: MachineOptions }
  | BatchInvocation
  | ActingInvocation
  /** `--help` or `--version`: it has been answered. */
  | { readonly command: "answered" };

interface Words {
  readonly program: "execute_batch" | "sshoal";
  readonly argv: readonly string[];
  readonly env: Environment;
}

export function parseOptions({ program, argv, env }: Words): Invocation {
  let invocation: Invocation = { command: "answered" };
  const run = describeRun(program === "sshoal" ? new Command("run") : new Command("execute_batch"));
  run.action((script: string | undefined, raw: RawRun) => {
    invocation = { command: "run", options: resolveRun(script, raw, run, env) };
  });
  const root = program === "execute_batch" ? run : new Command("sshoal");
  if (program === "sshoal") {
    root.description("Runs a batch of shell commands on the machines you can already ssh into.");
    const probe = describeProbe(new Command("probe"));
    probe.action((raw: RawMachines) => {
      invocation = { command: "probe", options: resolveMachines(raw) };
    });
    const doctor = describeDoctor(new Command("doctor"));
    doctor.action((raw: RawMachines) => {
      invocation = { command: "doctor", options: resolveMachines(raw) };
    });
    root.addCommand(run).addCommand(probe).addCommand(doctor);
    const choose = (chosen: Invocation) => {
      invocation = chosen;
    };
    for (const command of [...batchCommands(choose), ...actingCommands(choose)]) root.addCommand(command);
  }
  for (const command of [root, ...root.commands]) {
    command
      .exitOverride()
      .configureOutput({ writeErr: () => {} })
      .showSuggestionAfterError();
  }
  root.version(VERSION, "--version", "print the version");
  try {
    if (argv.length === 0 && program === "sshoal") root.outputHelp();
    else root.parse([...argv], { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode !== 0)
      throw new UserError(error.message.replace(/^error: /, ""), { hint: `${root.name()} --help` });
  }
  return invocation;
}
