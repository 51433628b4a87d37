// The options of `sshoal sweep` and `simple_hypersearch`. Both print the commands of a sweep. The second works like the
// tool of that name: in random order, different each time, with values unquoted. The first can also run them.

import { Command, Option } from "commander";
import { UserError } from "../../errors.js";
import { SAMPLING_MODES, type SamplingMode } from "../../model/sweep.js";
import { withExamples } from "../help/examples.js";
import { groupApart } from "../help/help-groups.js";
import { describeRunOptions } from "./describe-run.js";
import { countOption, type Environment, seedOption } from "./option-values.js";
import type { RawJob } from "./queue/job-ask.js";
import { describeJobTerms, describeQueued, saidIn } from "./queue/job-terms-options.js";
import { askedServer, describeServer, type RawServer, type WithServer } from "./queue/server-options.js";
import { resolveRunOptions } from "./resolve-run.js";
import type { RunOptions } from "./run-options.js";
import { typedIn } from "./typed-values.js";

export interface SweepInvocation {
  readonly command: "sweep";
  readonly options: SweepOptions;
}

export interface SweepOptions {
  readonly source:
    | { readonly kind: "file"; readonly path: string }
    | {
        readonly kind: "words";
        readonly command: string;
        readonly parameters: readonly (readonly string[])[];
      };
  /** Null: as in the sweep file, or the default. */
  readonly samplingMode: SamplingMode | null;
  readonly samples: number | null;
  readonly seed: number | null;
  /** Where neither the command line nor the sweep file says: of configuration files, or built in. */
  readonly byDefault: {
    readonly samplingMode: SamplingMode | null;
    readonly samples: number | null;
    /** Null: another one each time. */
    readonly seed: number | null;
    readonly quotes: boolean;
  };
  /** Printed commands are objects. */
  readonly isJson: boolean;
  /** Null: the commands are printed. */
  readonly run: Omit<RunOptions, "script"> | null;
  /** Null: they go to no queue. */
  readonly enqueue: SweepQueue | null;
}

export interface SweepQueue extends WithServer {
  readonly queue: string;
  /** Without defaults. */
  readonly said: Partial<RawJob>;
  readonly freezes: boolean;
}

interface RawSweep {
  readonly samplingMode?: SamplingMode;
  readonly nSamples?: number;
  readonly seed?: number;
  readonly json?: true;
}

type Parameters = readonly (readonly string[])[];
type Choose = (invocation: SweepInvocation) => void;

/** `parameters`: the words of each -p, which commander does not get. */
export function describeSweep(parameters: Parameters, env: Environment, choose: Choose): Command {
  const command = new Command("sweep")
    .summary("Print or run one command for each combination of parameters.")
    .description("Print one command per line for each combination of parameters, or run them.")
    .argument("[command]", "command with {name} in place of values, or a sweep file (.yaml, .yml)");
  describeSampling(command, "grid, or shuffled_grid with --n-samples", "0").option(
    "--run",
    "run the commands as a batch; the same command later resumes it",
  );
  const isOfRun = optionsAddedBy(describeRunOptions, command).filter(({ long }) => long !== "--json");
  groupApart(isOfRun, "with --run");
  command.option("--enqueue <queue>", "add the commands as jobs to this queue of the service");
  const isOfQueue = optionsAddedBy((each) => describeServer(describeQueued(each)), command);
  groupApart(isOfQueue, "with --enqueue");
  return withExamples(command, EXAMPLES).action(
    (
      typed: string | undefined,
      raw: RawSweep & RawJob & RawServer & { run?: true; enqueue?: string; freeze?: true },
    ) => {
      const said = typedIn(raw, command);
      const byDefault = { ...settingsOf(raw), seed: raw.seed ?? 0, quotes: true };
      const swallowed: Swallowed[] = [
        ["-p", parameters.flat()],
        ["--machines", said.machines ?? []],
      ];
      const source = isFile(typed, parameters)
        ? { kind: "file" as const, path: typed }
        : { kind: "words" as const, command: requireCommand("sshoal sweep", typed, swallowed), parameters };
      const queue = raw.enqueue;
      if (queue === undefined) refuse(command, isOfQueue, "without --enqueue");
      else
        refuse(
          command,
          isOfRun.filter(({ long }) => !isOfJobs(long)),
          "with --enqueue",
        );
      if (queue === undefined && !raw.run) refuse(command, isOfRun, "without --run");
      if (queue !== undefined && raw.run)
        throw new UserError("--run and --enqueue cannot be combined", { hint: "leave one of them out" });
      const run = raw.run ? resolveRunOptions(raw, env) : null;
      const enqueue =
        queue === undefined
          ? null
          : { server: askedServer(raw), queue, said: saidIn(raw, command), freezes: raw.freeze ?? false };
      choose({ command: "sweep", options: { source, ...settingsOf(said), byDefault, run, enqueue } });
    },
  );
}

function optionsAddedBy(describe: (command: Command) => Command, command: Command): readonly Option[] {
  const before = new Set(command.options);
  return describe(command).options.filter((option) => !before.has(option));
}

function refuse(command: Command, options: readonly Option[], when: string): void {
  const typed = options.filter((option) => command.getOptionValueSource(option.attributeName()) === "cli");
  if (typed.length === 0) return;
  const flags = typed.map(({ long, short }) => long ?? short).join(", ");
  const [, verb, flag] = /^(without|with) (.*)$/.exec(when) ?? [];
  const why = flag === "--run" ? ", because the commands are only printed" : "";
  throw new UserError(`${flags}: no effect ${when}${why}`, {
    hint: verb === "without" ? `add ${flag}${flag === "--run" ? " to run them" : " QUEUE"}` : "leave it out",
  });
}

/** Of the options of a run, those that a job of a queue can have. */
function isOfJobs(flag: string | undefined): boolean {
  return describeJobTerms(new Command("job")).options.some(({ long }) => long === flag);
}

export function describeHypersearch(parameters: Parameters, choose: Choose): Command {
  const command = new Command("simple_hypersearch")
    .description("Print one command per line for each combination of parameters, in random order.")
    .argument("[command_pattern]", "command with {name} in place of values");
  describeSampling(command, "shuffled_grid", "another one each time").option(
    "--json",
    "print one JSON object per command",
  );
  return withExamples(command, HYPERSEARCH_EXAMPLES).action((typed: string | undefined, raw: RawSweep) => {
    const byDefault = { samplingMode: "shuffled_grid" as const, samples: null, seed: null, quotes: false };
    const pattern = requireCommand("simple_hypersearch", typed, [["-p", parameters.flat()]]);
    const source = { kind: "words" as const, command: pattern, parameters };
    choose({
      command: "sweep",
      options: { source, ...settingsOf(raw), byDefault, run: null, enqueue: null },
    });
  });
}

const EXAMPLES = [
  ["Print four commands", 'sshoal sweep "train.py --lr {lr} --bs {bs}" -p lr 1e-3 1e-4 -p bs 32 64'],
  [
    "Print 20 random commands",
    'sshoal sweep "python train.py --lr {lr}" -p lr=log:1e-5..1e-1 --n-samples 20',
  ],
  ["Write the commands of a sweep file to a batch file", "sshoal sweep sweep.yaml > jobs.sh"],
  ["Add the commands of a sweep file to a queue", "sshoal sweep sweep.yaml --enqueue train"],
  ["Run the commands of a sweep file on two machines", "sshoal sweep sweep.yaml --run --machines gpu1 gpu2"],
] as const;

const HYPERSEARCH_EXAMPLES = [
  [
    "Print four commands in random order",
    'simple_hypersearch "train.py --lr {lr} --bs {bs}" -p lr 0.1 1 -p bs 32 64',
  ],
  [
    "Run three commands on two cards",
    'simple_hypersearch "a.py {x}" -p x 1 2 3 | simple_gpu_scheduler --gpus 0 1',
  ],
] as const;

function describeSampling(command: Command, byDefault: string, seedByDefault: string): Command {
  return command
    .option(
      "-p, --parameter <words...>",
      "set values: NAME VALUE…, or NAME=log:1e-5..1e-1, =uniform:0..1, =int:1..10, =normal:MEAN,SD; repeatable",
    )
    .addOption(
      new Option("--sampling-mode <mode>", "choose the order of the commands")
        .choices([...SAMPLING_MODES])
        .default(undefined, byDefault),
    )
    .addOption(countOption("--n-samples <n>", "print at most this many commands, all different"))
    .addOption(
      seedOption(
        `choose the random numbers: a seed always gives the same commands (default: ${seedByDefault})`,
      ),
    );
}

function settingsOf({ samplingMode, nSamples, seed, json }: RawSweep) {
  return {
    samplingMode: samplingMode ?? null,
    samples: nSamples ?? null,
    seed: seed ?? null,
    isJson: json ?? false,
  };
}

/** A command without a placeholder is useless, so this can only be a file. */
function isFile(typed: string | undefined, parameters: Parameters): typed is string {
  if (typed === undefined || !/^[^{]*\.ya?ml$/s.test(typed)) return false;
  if (parameters.length === 0) return true;
  if (/\s/.test(typed)) return false;
  throw new UserError("-p goes with a command, not with a sweep file", {
    hint: `write the parameters into ${typed}`,
  });
}

/** An option that takes every word that follows, and the words it took. */
type Swallowed = readonly [flag: string, words: readonly string[]];

function requireCommand(program: string, typed: string | undefined, lists: readonly Swallowed[]): string {
  if (typed !== undefined) return typed;
  for (const [flag, words] of lists) {
    const swallowed = words.find((word) => /\{.*\}/s.test(word));
    if (swallowed === undefined) continue;
    throw new UserError(`which command? ${flag} has taken "${swallowed}" too`, {
      hint: `put the command first: ${program} "…" ${flag} …`,
    });
  }
  throw new UserError("which command?", {
    hint: `${program} "python train.py --lr {lr}" -p lr 0.1 0.01`,
  });
}
