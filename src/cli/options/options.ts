// Reads the command line into one resolved, read-only value per command. Bad values are refused here.

import { Command, CommanderError } from "commander";
import { VERSION } from "../../model/version.js";
import { layOutHelp } from "../help/lay-out.js";
import { spellOut } from "./abbreviations.js";
import { type ActingInvocation, actingCommands } from "./acting-commands.js";
import { type BatchInvocation, batchCommands } from "./batch-commands.js";
import { type CompletionInvocation, describeCompletion, describeWords } from "./completion-options.js";
import { type ConfigInvocation, type Configured, describeConfig } from "./config/config-command.js";
import { configure } from "./config/configure.js";
import { type LoadedConfig, NO_CONFIG } from "./config/load-config.js";
import type { Applied } from "./config/origins.js";
import { describeRun } from "./describe-run.js";
import { describeGpuScheduler } from "./gpu-scheduler-options.js";
import { describeGrass, type GrassInvocation, parseGrass } from "./grass/describe-grass.js";
import { hasGrassWords } from "./grass/grass-words.js";
import { describeRootHelp } from "./help-text.js";
import {
  describeDoctor,
  describeProbe,
  type MachineOptions,
  type RawMachines,
  resolveMachines,
} from "./machine-options.js";
import { describeMcp, type McpInvocation } from "./mcp-options.js";
import { spellingError } from "./misspelling.js";
import { addOpposites } from "./opposites.js";
import type { Environment } from "./option-values.js";
import { separateParameters } from "./parameter-words.js";
import {
  describeEnqueue,
  type EnqueueInvocation,
  type OpenEnqueueInvocation,
} from "./queue/enqueue-options.js";
import type { EnqueueReading } from "./queue/enqueue-words.js";
import { describeJoin, type JoinInvocation } from "./queue/join-options.js";
import { parseEnqueue } from "./queue/parse-enqueue.js";
import { describeQueue, type QueueInvocation } from "./queue/queue-options.js";
import { type QueuedJobInvocation, queuedJobCommands } from "./queue/queued-job-options.js";
import { describeServe, type ServeInvocation } from "./queue/serve-options.js";
import { describeShow, type ShowInvocation } from "./queue/show-options.js";
import { describeRemote, type RemoteInvocation } from "./remote-options.js";
import { resolveRun } from "./resolve-run.js";
import { type Revise, reviser } from "./revise-run.js";
import type { RawRun, RunOptions } from "./run-options.js";
import { describeHypersearch, describeSweep, type SweepInvocation } from "./sweep-options.js";
import { describeTop, type TopInvocation } from "./top-options.js";
import { describeWait, type WaitInvocation } from "./wait-options.js";
import { describeWhy, type WhyInvocation } from "./why-options.js";

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
  | WaitInvocation
  | TopInvocation
  | WhyInvocation
  | SweepInvocation
  | RemoteInvocation
  | ConfigInvocation
  | CompletionInvocation
  | ServeInvocation
  | JoinInvocation
  | QueueInvocation
  | EnqueueInvocation
  | OpenEnqueueInvocation
  | QueuedJobInvocation
  | ShowInvocation
  | GrassInvocation
  | McpInvocation
  /** `--help` or `--version`: it has been answered. */
  | { readonly command: "answered" };

/** The commands that are installed. */
export const PROGRAMS = [
  "execute_batch",
  "execute_remote",
  "grass",
  "simple_gpu_scheduler",
  "simple_hypersearch",
  "sshoal",
] as const;
export type Program = (typeof PROGRAMS)[number];

interface Words {
  readonly program: Program;
  readonly argv: readonly string[];
  readonly env: Environment;
  /** Left out: there are no configuration files. */
  readonly config?: LoadedConfig;
  /** Is called with what these give to the command, before it is resolved. */
  readonly onConfig?: (applied: Applied) => void;
}

export function parseOptions(words: Words): Invocation {
  const { program, argv } = words;
  if (program === "grass" && hasGrassWords(argv))
    return parseGrass(argv, (reading) =>
      parseWords({ ...words, argv: [argv[0] ?? "", ...reading.options] }, reading),
    );
  if (program !== "sshoal" || argv[0] !== "enqueue") return parseWords(words, null);
  const read = (reading: EnqueueReading) =>
    parseWords({ ...words, argv: ["enqueue", ...reading.options] }, reading);
  return parseEnqueue(
    argv.slice(1),
    read,
    (read) => (read.command === "enqueue" ? read.options : null),
    (words.config?.files.length ?? 0) > 0,
  );
}

/** `reading`: of a command whose other words are not in `argv`. */
function parseWords(words: Words, reading: EnqueueReading | null): Invocation {
  const { program, argv, env } = words;
  const config = program === "simple_hypersearch" ? NO_CONFIG : (words.config ?? NO_CONFIG);
  let invocation: Invocation = { command: "answered" };
  const choose = (chosen: Invocation) => {
    invocation = chosen;
  };
  const isSweep = program === "simple_hypersearch" || (program === "sshoal" && argv[0] === "sweep");
  const { rest, parameters } = isSweep ? separateParameters(argv) : { rest: argv, parameters: [] };
  const configured = { places: config.places, read: () => read(), commands: () => root.commands };
  const isAlone = reading !== null && config.files.length === 0;
  const describe = (which: Program) =>
    describeProgram({ program: which, env, parameters, reading, isAlone, choose, configured });
  const root = describe(program);
  for (const command of [root, ...root.commands]) {
    command
      .exitOverride()
      .configureOutput({ writeErr: () => {} })
      .showSuggestionAfterError(false);
  }
  const read = configure(root, {
    loaded: config,
    env,
    sectionOf: (each) => sectionOf(program, each),
    allCommands: () => (program === "sshoal" ? root : describe("sshoal")).commands,
    onApplied: words.onConfig ?? (() => {}),
  });
  const command = addOpposites(root.commands.find((each) => each.name() === rest[0]) ?? root);
  try {
    if (argv.length === 0 && root.commands.length > 0) root.outputHelp();
    else root.parse(spellOut(rest, command), { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode !== 0) throw spellingError(error, command, rest);
  }
  return invocation;
}

/** What configuration files call the command; null: it keeps the defaults of the tool that it replaces. */
function sectionOf(program: Program, command: Command): string | null {
  if (program === "execute_batch") return "run";
  return program === "sshoal" ? command.name() : null;
}

interface Description extends Pick<Words, "program" | "env"> {
  /** For a sweep: the words of each -p. */
  readonly parameters: readonly (readonly string[])[];
  readonly reading: EnqueueReading | null;
  /** Only the command of `reading` is needed: describing all others takes longer than anything else here. */
  readonly isAlone: boolean;
  readonly choose: (invocation: Invocation) => void;
  readonly configured: Configured;
}

/** The whole command line of a program, with its help. */
function describeProgram(description: Description): Command {
  const root = describeCommands(description).version(VERSION, "-V, --version", "print the version");
  layOutHelp(root);
  return root;
}

/** To be read, not run. */
export function describeForReading(program: Program): Command {
  const read = () => ({ settings: [], groups: new Map() });
  const configured: Configured = { places: [], read, commands: () => [] };
  return describeProgram({
    program,
    env: {},
    parameters: [],
    reading: null,
    isAlone: false,
    choose: () => {},
    configured,
  });
}

function describeCommands(description: Description): Command {
  const { program, env, parameters, reading, isAlone, choose, configured } = description;
  if (program === "grass") return describeGrass(env, reading, choose);
  if (program === "execute_remote") return describeRemote(choose);
  if (program === "simple_hypersearch") return describeHypersearch(parameters, choose);
  if (program === "simple_gpu_scheduler")
    return describeGpuScheduler(env, (options) => choose({ command: "run", options, revise: () => options }));
  if (program === "sshoal" && isAlone)
    return new Command(program).addCommand(describeEnqueue(reading, choose));
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
    describeWait(choose),
    describeTop(choose),
    describeWhy(choose),
    ...actingCommands(choose),
    describeSweep(parameters, env, choose),
    describeServe(choose),
    describeJoin(choose),
    describeQueue(env, choose),
    describeEnqueue(reading, choose),
    describeShow(choose),
    ...queuedJobCommands(choose),
    describeMcp(choose),
    describeConfig(configured, choose),
    describeCompletion(choose),
  ];
  for (const command of [run, probe, doctor, ...others]) root.addCommand(command);
  return describeRootHelp(root).addCommand(describeWords(choose), { hidden: true });
}
