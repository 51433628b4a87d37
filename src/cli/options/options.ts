// Reads the command line into one resolved, read-only value per command. Bad values are refused here.

import { Command, CommanderError } from "commander";
import { UserError } from "../../errors.js";
import { VERSION } from "../../model/version.js";
import { spellOut } from "./abbreviations.js";
import { type ActingInvocation, actingCommands } from "./acting-commands.js";
import { type BatchInvocation, batchCommands } from "./batch-commands.js";
import { describeGpuScheduler } from "./gpu-scheduler-options.js";
import {
  describeDoctor,
  describeProbe,
  type MachineOptions,
  type RawMachines,
  resolveMachines,
} from "./machine-options.js";
import { hintAtSpelling } from "./misspelling.js";
import type { Environment } from "./option-values.js";
import { separateParameters } from "./parameter-words.js";
import { describeRemote, type RemoteInvocation } from "./remote-options.js";
import {
  describeRun,
  type RawRun,
  type Revise,
  type RunOptions,
  resolveRun,
  reviser,
} from "./run-options.js";
import { describeHypersearch, describeSweep, type SweepInvocation } from "./sweep-options.js";

export type Invocation =
  | {
      readonly command: "run";
      readonly options: RunOptions;
      /** Called once the batch file is read. */
      readonly revise: Revise;
    }
  | { readonly command: "probe"; readonly options: MachineOptions }
  | { readonly command: "doctor"; readonly options: MachineOptions }
  | BatchInvocation
  | ActingInvocation
  | SweepInvocation
  | RemoteInvocation
  /** `--help` or `--version`: it has been answered. */
  | { readonly command: "answered" };

/** The installed commands. */
export type Program =
  | "execute_batch"
  | "execute_remote"
  | "simple_gpu_scheduler"
  | "simple_hypersearch"
  | "sshoal";

interface Words {
  readonly program: Program;
  readonly argv: readonly string[];
  readonly env: Environment;
}

export function parseOptions({ program, argv, env }: Words): Invocation {
  let invocation: Invocation = { command: "answered" };
  const choose = (chosen: Invocation) => {
    invocation = chosen;
  };
  const isSweep = program === "simple_hypersearch" || (program === "sshoal" && argv[0] === "sweep");
  const { rest, parameters } = isSweep ? separateParameters(argv) : { rest: argv, parameters: [] };
  const root = describeProgram({ program, env, parameters, choose });
  for (const command of [root, ...root.commands]) {
    command
      .exitOverride()
      .configureOutput({ writeErr: () => {} })
      .showSuggestionAfterError(false);
  }
  root.version(VERSION, "-V, --version", "print the version");
  const command = root.commands.find((each) => each.name() === rest[0]) ?? root;
  try {
    if (argv.length === 0 && program === "sshoal") root.outputHelp();
    else root.parse(spellOut(rest, command), { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode !== 0)
      throw new UserError(error.message.replace(/^error: /, ""), { hint: hintAtSpelling(error, command) });
  }
  return invocation;
}

interface Description extends Pick<Words, "program" | "env"> {
  /** For a sweep: the words of each -p. */
  readonly parameters: readonly (readonly string[])[];
  readonly choose: (invocation: Invocation) => void;
}

function describeProgram({ program, env, parameters, choose }: Description): Command {
  if (program === "execute_remote") return describeRemote(choose);
  if (program === "simple_hypersearch") return describeHypersearch(parameters, choose);
  if (program === "simple_gpu_scheduler")
    return describeGpuScheduler(env, (options) => choose({ command: "run", options, revise: () => options }));
  const run = describeRun(program === "sshoal" ? new Command("run") : new Command("execute_batch"));
  run.action((script: string | undefined, raw: RawRun) =>
    choose({
      command: "run",
      options: resolveRun(script, raw, run, env),
      revise: reviser(script, raw, run, env),
    }),
  );
  if (program === "execute_batch") return run;
  const probe = describeProbe(new Command("probe"));
  probe.action((raw: RawMachines) => choose({ command: "probe", options: resolveMachines(raw) }));
  const doctor = describeDoctor(new Command("doctor"));
  doctor.action((raw: RawMachines) => choose({ command: "doctor", options: resolveMachines(raw) }));
  const root = new Command("sshoal").description(
    "Run a batch of shell commands on the machines you can already ssh into.",
  );
  const others = [
    ...batchCommands(choose),
    ...actingCommands(choose),
    describeSweep(parameters, env, choose),
  ];
  for (const command of [run, probe, doctor, ...others]) root.addCommand(command);
  return root;
}
