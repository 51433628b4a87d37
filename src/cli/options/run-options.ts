// The options of `run`, and their meaning.

import { type Command, Option } from "commander";
import { UserError } from "../../errors.js";
import type { HaltRule } from "../../model/halt-rule.js";
import type { OutputLimit } from "../../model/output-limit.js";
import type { Wrap } from "../../model/wrapper.js";
import type { Policy } from "../../plan/run-state.js";
import type { Rerun } from "../../run/rerun.js";
import { attendedHalt, haltOption } from "./halt-option.js";
import { describeRunHelp } from "./help-text.js";
import {
  describeMachines,
  type MachineOptions,
  type RawMachines,
  resolveMachines,
} from "./machine-options.js";
import { describeNotify, type NotifyOptions, type RawNotify, resolveNotify } from "./notify-options.js";
import {
  durationOption,
  type Environment,
  gather,
  maxOldOption,
  maxOutputOption,
  reassignOption,
  retriesOption,
  sizeOption,
  toAssignment,
  variableOf,
  wrapOption,
} from "./option-values.js";
import { pathsIn } from "./path-words.js";
import { typedIn } from "./typed-values.js";

/** The tools whose users know their lines. */
export type Voice = "sshoal" | "simple_gpu_scheduler" | "execute_remote";

export interface RunOptions extends MachineOptions {
  /** As typed; "-": stdin. */
  readonly script: string;
  /** The script grows: jobs arrive while lines are appended to it. */
  readonly follows: boolean;
  /** The script's lines are calls of execute_remote. */
  readonly isKabuki: boolean;
  /** Null, here and below: the option was not given. */
  readonly copyForward: readonly string[] | null;
  readonly copyBackwards: readonly string[] | null;
  readonly copiesUnchanged: boolean;
  /** Patterns of files that are copied in neither direction. */
  readonly exclude: readonly string[];
  /** In bytes, per machine; null: the user is asked, or warned. */
  readonly maxSend: number | null;
  /** The directory of a job stays on its machine until the job succeeds. */
  readonly keepsDir: boolean;
  /** Both streams of a job go to one file. */
  readonly mergesOutput: boolean;
  /** Null: all output is kept. */
  readonly maxOutput: OutputLimit | null;
  /** Null: all earlier results are kept. */
  readonly maxOld: number | null;
  /** Null: that of the machine files. */
  readonly wrap: Wrap | null;
  readonly env: Readonly<Record<string, string>>;
  /** The names of those that only a configuration file sets. */
  readonly envFromFiles: readonly string[];
  readonly timeoutSeconds: number | null;
  readonly isDryRun: boolean;
  /** Return once everything is handed over. */
  readonly detaches: boolean;
  /** Also show the output of jobs. */
  readonly tees: boolean;
  readonly notify: NotifyOptions;
  readonly policy: Policy;
  /** When all first jobs crash in the same way, the batch pauses on a terminal, and otherwise ends. */
  readonly pausesOnCrash: boolean;
  readonly rerun: Rerun;
  /** A line whose command changed keeps its results. */
  readonly keepsChanged: boolean;
  /** Whose lines are printed. */
  readonly voice: Voice;
}

export interface RawRun extends RawMachines, RawNotify {
  readonly follow?: string;
  readonly kabukiCommands?: true;
  /** True: given without a path. */
  readonly copyForward?: string[] | true;
  readonly copyBackwards?: string[] | true;
  readonly copyUnchanged?: true;
  readonly exclude?: string[];
  readonly maxSend?: number;
  readonly keepDir?: true;
  readonly merge?: true;
  readonly maxOutput?: OutputLimit | "none";
  /** Infinity: all. */
  readonly maxOld?: number;
  readonly wrap?: Wrap;
  readonly env?: string[];
  /** Of configuration files: those of the batch file and of the command line take precedence. */
  readonly envByDefault?: string[];
  readonly timeout?: number;
  readonly dryRun?: true;
  readonly detach?: true;
  readonly tee?: true;
  readonly retries: number;
  readonly retryOnFailure?: true;
  readonly retryOnOom?: true;
  readonly retryFailed?: true;
  readonly rerun?: Rerun;
  readonly keepChanged?: true;
  /** Infinity: never. */
  readonly reassignAfter: number;
  readonly halt: HaltRule | "never";
  readonly pause?: boolean;
}

export function describeRun(command: Command): Command {
  command
    .summary("Run each command of a script as a job.")
    .description(
      "Run each command of a script as a job on free slots of your machines; results come to job_results/.",
    )
    .argument("[script]", "file with one job per command, in bash syntax; - reads stdin as it comes");
  describeRunOptions(command)
    .option("--follow <file>", "run jobs as they are appended to this file, until Ctrl-C")
    .option("--kabuki-commands", "read a script of execute_remote commands without --machine");
  return describeRunHelp(command);
}

/** All options except those that choose the jobs. */
export function describeRunOptions(command: Command): Command {
  describeMachines(command)
    .option("--limit-memory", "end a job that uses more than --memory-required, where systemd can do that")
    .option(
      "--copy-forward [paths...]",
      "copy these files to the machines; without paths, none (default: ./, or none if jobs run on this machine)",
    )
    .option(
      "--copy-backwards [paths...]",
      "collect results from these directories of a job's copy; without paths, none (default: ./)",
    )
    .option("--copy-unchanged", "collect inputs that the job did not change as well")
    .option(
      "--exclude <pattern>",
      "skip what matches in both directions: '*.ckpt', runs/, /data; as in .gitignore; repeatable",
      gather,
    )
    .addOption(
      sizeOption("--max-send <size>", "exit rather than send more than this to a machine: 500MB, 2GB"),
    )
    .option(
      "--keep-dir",
      "keep the directory of a job on its machine until the job succeeds, so that retries resume in it",
    )
    .option(
      "--env <NAME=VALUE>",
      "set a variable for jobs; NAME alone passes on your own value; repeatable",
      gather,
    )
    .addOption(wrapOption())
    .addOption(durationOption("--timeout <duration>", "stop jobs that run longer than this: 90s, 10m, 2h"))
    .addOption(retriesOption())
    .option("--retry-on-failure", "retry jobs that fail as well")
    .option("--retry-on-oom", "run a job that runs out of memory once more, with more memory or a card alone")
    .option("--retry-failed", "run failed jobs again; their earlier results move aside")
    .addOption(
      new Option("--rerun <which>", "run ended jobs again; their earlier results move aside")
        .choices(["changed", "failed", "all"])
        .default(undefined, "changed"),
    )
    .option("--keep-changed", "keep the results of each line even if its command has changed")
    .addOption(reassignOption())
    .addOption(haltOption())
    .option("--no-pause", "run all jobs even if the first ones crash at once in the same way")
    .option("--detach", "hand over all jobs and exit; the same command later follows them")
    .option("--merge", "write stderr of a job to the file of its stdout, in exact order")
    .addOption(maxOutputOption())
    .addOption(maxOldOption())
    .option("--tee", "print the output of jobs as well, line by line")
    .option("--dry-run", "print slots and first commands, and run nothing")
    .option("--json", "print one JSON event per line instead of text")
    .option("-v, --verbose", "print more details");
  return describeNotify(command);
}

export function resolveRun(
  script: string | undefined,
  raw: RawRun,
  command: Command,
  env: Environment,
): RunOptions {
  const follows = raw.follow !== undefined;
  const isKabuki = raw.kabukiCommands ?? false;
  if (isKabuki && (follows || script === "-")) {
    throw new UserError(
      "--kabuki-commands takes a script, whose lines are all known before the first job starts",
      {
        hint: "cat > jobs.sh, then execute_batch jobs.sh --kabuki-commands",
      },
    );
  }
  return { ...resolveRunOptions(raw, env), script: requireScript(script, raw, command), follows, isKabuki };
}

export function resolveRunOptions(raw: RawRun, env: Environment): Omit<RunOptions, "script"> {
  return {
    ...resolveMachines(raw),
    follows: false,
    isKabuki: false,
    copyForward: pathsIn(raw.copyForward),
    copyBackwards: pathsIn(raw.copyBackwards),
    copiesUnchanged: raw.copyUnchanged ?? false,
    exclude: raw.exclude ?? [],
    maxSend: raw.maxSend ?? null,
    keepsDir: raw.keepDir ?? false,
    mergesOutput: raw.merge ?? false,
    maxOutput: raw.maxOutput === undefined || raw.maxOutput === "none" ? null : raw.maxOutput,
    maxOld: raw.maxOld === undefined || !Number.isFinite(raw.maxOld) ? null : raw.maxOld,
    wrap: raw.wrap ?? null,
    env: Object.fromEntries(
      [...(raw.envByDefault ?? []), ...(raw.env ?? [])].map((assignment) => toAssignment(assignment, env)),
    ),
    envFromFiles: namesOnlyIn(raw.envByDefault ?? [], raw.env ?? []),
    timeoutSeconds: raw.timeout ?? null,
    isDryRun: raw.dryRun ?? false,
    detaches: raw.detach ?? false,
    tees: raw.tee ?? false,
    pausesOnCrash: raw.pause ?? true,
    notify: resolveNotify(raw),
    policy: {
      retries: raw.retries,
      retriesFailures: raw.retryOnFailure ?? false,
      ...(raw.retryOnOom && { retriesOutOfMemory: true }),
      reassignAfterMs: Number.isFinite(raw.reassignAfter) ? raw.reassignAfter * 1000 : null,
      halt: raw.halt === "never" ? null : attendedHalt(raw.halt, raw.detach ?? false),
    },
    rerun: raw.rerun ?? (raw.retryFailed ? "failed" : "stopped"),
    keepsChanged: isKeepingChanged(raw),
    voice: "sshoal",
  };
}

function namesOnlyIn(some: readonly string[], others: readonly string[]): string[] {
  const taken = new Set(others.map(variableOf));
  return [...new Set(some.map(variableOf))].filter((name) => !taken.has(name));
}

function isKeepingChanged({ keepChanged, rerun }: RawRun): boolean {
  if (keepChanged === undefined || rerun !== "changed") return keepChanged ?? false;
  throw new UserError("--keep-changed and --rerun changed cannot be combined", { hint: "leave one out" });
}

/** The options in a batch file, for all of its jobs and for one of them. */
export type Revise = (forAll: Partial<RawRun>, own?: Partial<RawRun>) => RunOptions;

/**
 * The command line takes precedence over options for all jobs in a batch file; a job's own options take precedence over
 * both.
 */
export function reviser(script: string | undefined, raw: RawRun, command: Command, env: Environment): Revise {
  const typed = typedIn(raw, command);
  return (forAll, own = {}) => {
    const variables = [...(forAll.env ?? []), ...(raw.env ?? []), ...(own.env ?? [])];
    const whole = { ...raw, ...forAll, ...typed, ...needingGpu(own), ...own, env: variables };
    // A job that needs no card, or all of them, does not use the listed cards.
    if (own.gpuRequired === false || own.reserve) delete whole.gpus;
    return resolveRun(script, whole, command, env);
  };
}

/** A job with GPU options needs a GPU. */
function needingGpu(own: Partial<RawRun>): Partial<RawRun> {
  const { gpuMemoryRequired, gpuUtilization, gpusPerJob, gpuModel, gpuMemoryTotal } = own;
  const isNeeded = gpuMemoryRequired ?? gpuUtilization ?? gpusPerJob ?? gpuModel ?? gpuMemoryTotal;
  return isNeeded === undefined ? {} : { gpuRequired: true };
}

/** Lists such as --machines take every word that follows, including the script's name if it comes last. */
function requireScript(script: string | undefined, raw: RawRun, command: Command): string {
  if (raw.follow !== undefined) {
    if (script === undefined && raw.follow !== "-" && raw.dryRun === undefined) return raw.follow;
    throw new UserError(`--follow takes its jobs from ${raw.follow} alone, and runs them`, {
      hint: raw.follow === "-" ? "execute_batch - reads stdin" : `execute_batch --follow ${raw.follow}`,
    });
  }
  if (script !== undefined) return script;
  const [flag, swallowed] = lastSwallowed(typedIn(raw, command));
  const program = [command.parent, command].flatMap((each) => each?.name() ?? []).join(" ");
  const usage = `${program} script.sh --machines a.yaml b.yaml`;
  if (swallowed === undefined) throw new UserError("which script?", { hint: usage });
  throw new UserError(`which script? ${flag} has taken "${swallowed}" too`, {
    hint: `put the script first: ${program} ${swallowed} ${flag} …`,
  });
}

function lastSwallowed({ machines = [], copyForward, copyBackwards }: Partial<RawRun>) {
  const lists: [string, string[]][] = [
    ["--machines", machines.filter((name) => /\.(ba)?sh$|\.txt$/.test(name))],
    ["--copy-forward", (pathsIn(copyForward) ?? []).slice(1)],
    ["--copy-backwards", (pathsIn(copyBackwards) ?? []).slice(1)],
  ];
  const [flag, words] = lists.find(([, list]) => list.length > 0) ?? ["--machines", []];
  return [flag, words.at(-1)] as const;
}
