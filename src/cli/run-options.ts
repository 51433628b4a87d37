// What `run` and `probe` can be asked for, and what it means.

import { type Command, Option } from "commander";
import { UserError } from "../errors.js";
import type { Requirement } from "../model/job.js";
import type { Policy } from "../plan/state.js";
import type { Rerun } from "../run/opening.js";
import { EXAMPLES } from "./help-text.js";
import {
  durationOption,
  type Environment,
  gather,
  numberOption,
  reassignOption,
  retriesOption,
  toAssignment,
  wholeOption,
} from "./option-values.js";
import {
  describeChoice,
  describeSsh,
  type MachineChoice,
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

export interface RawMachines extends RawChoice, RawSsh {
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

export interface RawRun extends RawMachines {
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

export function describeRun(command: Command): Command {
  command
    .description(
      "Runs every command of a script as a job on free slots of your machines; results come to job_results/.",
    )
    .argument("[script]", "one job a command, in bash syntax");
  describeMachines(command)
    .option("--copy-forward <paths...>", "what of the working directory jobs get a copy of", ["./"])
    .option("--copy-backwards <paths...>", "where a job leaves results", ["./"])
    .option("--copy-unchanged", "bring inputs back too that the job did not change")
    .option("--env <NAME=VALUE>", "set a variable for jobs; NAME alone passes on yours (repeatable)", gather)
    .addOption(durationOption("--timeout <duration>", "end a job that runs longer: 90s, 10m, 2h"))
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
    .option("-v, --verbose", "say more");
  return command.addHelpText("after", EXAMPLES);
}

export function describeProbe(command: Command): Command {
  command.description("Shows what is free where, and how many jobs would fit.");
  return describeMachines(command)
    .option("--json", "one object a machine")
    .option("-v, --verbose", "also how each machine was reached");
}

export function describeDoctor(command: Command): Command {
  command.description("Looks whether a batch would run on each machine, and says how to mend what is wrong.");
  return describeMachines(command)
    .option("--json", "one object a machine")
    .addHelpText("after", "\nExit codes: 0 all are fit, 1 some are not, 2 bad usage or input, 3 none is.");
}

function describeMachines(command: Command): Command {
  describeChoice(command, "without any, jobs run on this machine");
  return describeSsh(command)
    .addOption(numberOption("--num-cpus <n>", "cores one job uses", 1))
    .addOption(numberOption("--memory-required <MB>", "memory one job uses", 7000))
    .option("--reserve", "one job has a whole machine")
    .option("--no-reserve-gpu", "let several jobs share a GPU")
    .option("--no-gpu-required", "jobs need no GPU")
    .addOption(numberOption("--gpu-memory-required <MB>", "GPU memory one job uses", 1000))
    .addOption(numberOption("--gpu-utilization <share>", "share of a GPU one job uses", 0.75))
    .addOption(wholeOption("--gpus-per-job <n>", "GPUs each job gets", 1));
}

export function resolveMachines(raw: RawMachines): MachineOptions {
  return {
    ...resolveChoice(raw),
    ...resolveSsh(raw),
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

export function resolveRun(
  script: string | undefined,
  raw: RawRun,
  command: Command,
  env: Environment,
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

/** What a batch file says, for all of its jobs and for one of them. */
export type Revise = (forAll: Partial<RawRun>, own?: Partial<RawRun>) => RunOptions;

/** The command line comes before what a batch file says for all; what a job says of its own, before both. */
export function reviser(script: string | undefined, raw: RawRun, command: Command, env: Environment): Revise {
  const typed = Object.fromEntries(
    Object.entries(raw).filter(([name]) => command.getOptionValueSource(name) === "cli"),
  );
  return (forAll, own = {}) => {
    const variables = [...(forAll.env ?? []), ...(raw.env ?? []), ...(own.env ?? [])];
    const whole = { ...raw, ...forAll, ...typed, ...needingGpu(own), ...own, env: variables };
    return resolveRun(script, whole, command, env);
  };
}

/** A job that says what it needs of a GPU needs one. */
function needingGpu({ gpuMemoryRequired, gpuUtilization, gpusPerJob }: Partial<RawRun>): Partial<RawRun> {
  const isNeeded = gpuMemoryRequired ?? gpuUtilization ?? gpusPerJob;
  return isNeeded === undefined ? {} : { gpuRequired: true };
}

/** Lists such as --machines take every word that follows, the script's name too if it comes last. */
function requireScript(script: string | undefined, raw: RawRun, command: Command): string {
  if (script !== undefined) return script;
  const [flag, swallowed] = lastSwallowed(raw);
  const program = [command.parent, command].flatMap((each) => each?.name() ?? []).join(" ");
  const usage = `${program} script.sh --machines a.yaml b.yaml`;
  if (swallowed === undefined) throw new UserError("which script?", { hint: usage });
  throw new UserError(`which script? ${flag} has taken "${swallowed}" too`, {
    hint: `put the script first: ${program} ${swallowed} ${flag} …`,
  });
}

function lastSwallowed({ machines = [], copyForward, copyBackwards }: RawRun): [string, string | undefined] {
  const lists: [string, string[]][] = [
    ["--machines", machines.filter((name) => /\.(ba)?sh$|\.txt$/.test(name))],
    ["--copy-forward", copyForward.slice(1)],
    ["--copy-backwards", copyBackwards.slice(1)],
  ];
  const [flag, words] = lists.find(([, list]) => list.length > 0) ?? ["--machines", []];
  return [flag, words.at(-1)];
}
