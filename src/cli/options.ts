// The command line, read into one resolved, read-only value per command. Bad values never get past here.

import { Command, CommanderError, Option } from "commander";
import { UserError } from "../errors.js";
import type { Requirement } from "../model/job.js";
import type { Policy } from "../plan/state.js";
import type { Rerun } from "../run/opening.js";
import { type ActingInvocation, actingCommands } from "./acting-commands.js";
import { type BatchInvocation, batchCommands } from "./batch-commands.js";
import { parseDuration } from "./duration.js";
import { EXAMPLES, VERSION } from "./help-text.js";

export interface MachineOptions {
  /** As typed; empty: this computer. */
  readonly machines: readonly string[];
  readonly requirement: Requirement;
  readonly isJson: boolean;
  readonly isVerbose: boolean;
}

export interface RunOptions extends MachineOptions {
  readonly script: string;
  readonly copyForward: readonly string[];
  readonly copyBackwards: readonly string[];
  readonly copiesUnchanged: boolean;
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutSeconds: number | null;
  readonly isDryRun: boolean;
  /** Return once everything is handed over. */
  readonly detaches: boolean;
  readonly policy: Policy;
  readonly rerun: Rerun;
}

export type Invocation =
  | { readonly command: "run"; readonly options: RunOptions }
  | { readonly command: "probe"; readonly options: MachineOptions }
  | BatchInvocation
  | ActingInvocation
  /** `--help` or `--version`: it has been answered. */
  | { readonly command: "answered" };

interface Words {
  readonly program: "execute_batch" | "sshoal";
  readonly argv: readonly string[];
  /** For `--env NAME`, which passes on what this shell has. */
  readonly env: Readonly<Record<string, string | undefined>>;
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
    root.addCommand(run).addCommand(probe);
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

interface RawMachines {
  readonly machines?: string[];
  readonly numCpus: number;
  readonly memoryRequired: number;
  readonly reserve?: true;
  readonly reserveGpu: boolean;
  readonly gpuRequired: boolean;
  readonly gpuMemoryRequired: number;
  readonly gpuUtilization: number;
  readonly gpusPerJob: number;
  readonly json?: true;
  readonly verbose?: true;
}

interface RawRun extends RawMachines {
  readonly copyForward: string[];
  readonly copyBackwards: string[];
  readonly copyUnchanged?: true;
  readonly env?: string[];
  readonly timeout?: number;
  readonly dryRun?: true;
  readonly detach?: true;
  readonly retries: number;
  readonly retryOnFailure?: true;
  readonly retryFailed?: true;
  readonly rerun?: Rerun;
  /** Infinity: never. */
  readonly reassignAfter: number;
}

function describeRun(command: Command): Command {
  command
    .description(
      "Runs every line of a script as a job on free slots of your machines; results come to job_results/.",
    )
    .argument("[script]", "one job a line, in bash syntax");
  describeMachines(command)
    .option("--copy-forward <paths...>", "what of the working directory jobs get a copy of", ["./"])
    .option("--copy-backwards <paths...>", "where a job leaves results", ["./"])
    .option("--copy-unchanged", "bring inputs back too that the job did not change")
    .option("--env <NAME=VALUE>", "set a variable for jobs; NAME alone passes on yours (repeatable)", gather)
    .addOption(
      new Option("--timeout <duration>", "end a job that runs longer: 90s, 10m, 2h").argParser((text) =>
        toDuration("--timeout", text),
      ),
    )
    .addOption(retriesOption())
    .option("--retry-on-failure", "let --retries go for jobs that fail, too")
    .option("--retry-failed", "run jobs again that failed before; their results move aside")
    .addOption(
      new Option("--rerun <which>", "run jobs again that are done; their results move aside").choices([
        "changed",
        "failed",
        "all",
      ]),
    )
    .addOption(reassignOption())
    .option("--detach", "hand everything over and return; the same command again follows it")
    .option("--dry-run", "show slots and first commands, touch nothing")
    .option("--json", "one event a line instead of text")
    .option("--verbose", "say more");
  return command.addHelpText("after", EXAMPLES);
}

function describeProbe(command: Command): Command {
  command.description("Shows what is free where, and how many jobs would fit.");
  return describeMachines(command).option("--json", "one object a machine");
}

function describeMachines(command: Command): Command {
  return command
    .option("--machines <files...>", "machine files; without any, jobs run on this machine")
    .addOption(numberOption("--num-cpus <n>", "cores one job uses", 1))
    .addOption(numberOption("--memory-required <MB>", "memory one job uses", 7000))
    .option("--reserve", "one job has a whole machine")
    .option("--no-reserve-gpu", "let several jobs share a GPU")
    .option("--no-gpu-required", "jobs need no GPU")
    .addOption(numberOption("--gpu-memory-required <MB>", "GPU memory one job uses", 1000))
    .addOption(numberOption("--gpu-utilization <share>", "share of a GPU one job uses", 0.75))
    .addOption(wholeOption("--gpus-per-job <n>", "GPUs each job gets", 1));
}

function numberOption(flags: string, description: string, byDefault: number): Option {
  return new Option(flags, description)
    .default(byDefault)
    .argParser((text) => toNumber(flags, text, /^\d+(\.\d+)?$/));
}

function wholeOption(flags: string, description: string, byDefault: number): Option {
  return new Option(flags, description)
    .default(byDefault)
    .argParser((text) => toNumber(flags, text, /^[1-9]\d{0,5}$/));
}

function retriesOption(): Option {
  return new Option("--retries <n>", "tries again for a job that went down with its machine")
    .default(2)
    .argParser((text) => toNumber("--retries <n>", text, /^\d{1,3}$/));
}

function reassignOption(): Option {
  return (
    new Option(
      "--reassign-after <duration>",
      "others get the waiting jobs of a machine out of reach, or never",
    )
      .default(600, "10m")
      // Not null: commander takes that for an empty word.
      .argParser((text) =>
        text === "never" ? Number.POSITIVE_INFINITY : toDuration("--reassign-after", text),
      )
  );
}

function toNumber(flags: string, text: string, shape: RegExp): number {
  const [name = "", unit = ""] = flags.split(" ");
  if (shape.test(text) && Number(text) < 1e9) return Number(text);
  throw new UserError(`${name} takes a number ${unit}, got "${text}"`, {
    hint: `for example ${name} ${/util/.test(name) ? "0.5" : "2"}`,
  });
}

function toDuration(flag: string, text: string): number {
  const seconds = parseDuration(text);
  if (seconds !== null) return seconds;
  throw new UserError(`${flag} takes a duration with a unit, got "${text}"`, {
    hint: `for example ${flag} 90s, 10m or 1h30m`,
  });
}

function gather(value: string, before: string[] = []): string[] {
  return [...before, value];
}

function resolveMachines(raw: RawMachines): MachineOptions {
  return {
    machines: raw.machines ?? [],
    requirement: {
      cpus: raw.numCpus,
      memoryMb: raw.memoryRequired,
      reservesMachine: raw.reserve ?? false,
      gpu: raw.gpuRequired
        ? {
            count: raw.gpusPerJob,
            memoryMb: raw.gpuMemoryRequired,
            utilization: raw.gpuUtilization,
            isReserved: raw.reserveGpu,
          }
        : null,
    },
    isJson: raw.json ?? false,
    isVerbose: raw.verbose ?? false,
  };
}

function resolveRun(
  script: string | undefined,
  raw: RawRun,
  command: Command,
  env: Words["env"],
): RunOptions {
  return {
    ...resolveMachines(raw),
    script: requireScript(script, raw, command),
    copyForward: raw.copyForward,
    copyBackwards: raw.copyBackwards,
    copiesUnchanged: raw.copyUnchanged ?? false,
    env: Object.fromEntries((raw.env ?? []).map((assignment) => toAssignment(assignment, env))),
    timeoutSeconds: raw.timeout ?? null,
    isDryRun: raw.dryRun ?? false,
    detaches: raw.detach ?? false,
    policy: {
      retries: raw.retries,
      retriesFailures: raw.retryOnFailure ?? false,
      reassignAfterMs: Number.isFinite(raw.reassignAfter) ? raw.reassignAfter * 1000 : null,
    },
    rerun: raw.rerun ?? (raw.retryFailed ? "failed" : "none"),
  };
}

/** Lists such as --machines take every word that follows, the script's name too if it comes last. */
function requireScript(script: string | undefined, raw: RawRun, command: Command): string {
  if (script !== undefined) return script;
  const [flag, swallowed] = lastSwallowed(raw);
  const usage = `${command.name()} script.sh --machines a.yaml b.yaml`;
  if (swallowed === undefined) throw new UserError("which script?", { hint: usage });
  throw new UserError(`which script? ${flag} has taken "${swallowed}" too`, {
    hint: `put the script first: ${command.name()} ${swallowed} ${flag} …`,
  });
}

function lastSwallowed({ machines = [], copyForward, copyBackwards }: RawRun): [string, string | undefined] {
  const lists: [string, string[]][] = [
    ["--machines", machines.filter((name) => !/\.ya?ml$/.test(name))],
    ["--copy-forward", copyForward.slice(1)],
    ["--copy-backwards", copyBackwards.slice(1)],
  ];
  const [flag, words] = lists.find(([, list]) => list.length > 0) ?? ["--machines", []];
  return [flag, words.at(-1)];
}

function toAssignment(text: string, env: Words["env"]): [string, string] {
  const [, name = "", value] = /^([A-Za-z_][A-Za-z0-9_]*)(?:=([\s\S]*))?$/.exec(text) ?? [];
  if (name === "")
    throw new UserError(`--env takes NAME=VALUE, got "${text.split("=")[0]}"`, {
      hint: "for example --env SEED=1",
    });
  const resolved = value ?? env[name];
  if (resolved !== undefined) return [name, resolved];
  throw new UserError(`--env ${name}: this shell has no ${name} to pass on`, {
    hint: `export ${name}=…, or --env ${name}=VALUE`,
  });
}
