// The options of `sshoal sweep` and `simple_hypersearch`. Both print the commands of a sweep. The second works like the
// tool of that name: in random order, different each time, with values unquoted. The first can also run them.

import { Command, Option } from "commander";
import { UserError } from "../../errors.js";
import { SAMPLING_MODES, type SamplingMode } from "../../model/sweep.js";
import { withExamples } from "../help/examples.js";
import { groupApart } from "../help/help-groups.js";
import { countOption, type Environment, seedOption } from "./option-values.js";
import { describeRunOptions, type RawRun, type RunOptions, resolveRunOptions } from "./run-options.js";
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
  return withExamples(command, EXAMPLES).action(
    (typed: string | undefined, raw: RawSweep & RawRun & { run?: true }) => {
      const said = typedIn(raw, command);
      const byDefault = { ...settingsOf(raw), seed: raw.seed ?? 0, quotes: true };
      const swallowed: Swallowed[] = [
        ["-p", parameters.flat()],
        ["--machines", said.machines ?? []],
      ];
      const source = isFile(typed, parameters)
        ? { kind: "file" as const, path: typed }
        : { kind: "words" as const, command: requireCommand("sshoal sweep", typed, swallowed), parameters };
      if (!raw.run) refuseWithoutRun(command, isOfRun);
      const run = raw.run ? resolveRunOptions(raw, env) : null;
      choose({ command: "sweep", options: { source, ...settingsOf(said), byDefault, run } });
    },
  );
}

function optionsAddedBy(describe: (command: Command) => Command, command: Command): readonly Option[] {
  const before = new Set(command.options);
  return describe(command).options.filter((option) => !before.has(option));
}

function refuseWithoutRun(command: Command, options: readonly Option[]): void {
  const typed = options.filter((option) => command.getOptionValueSource(option.attributeName()) === "cli");
  if (typed.length === 0) return;
  const flags = typed.map(({ long, short }) => long ?? short).join(", ");
  throw new UserError(`${flags}: no effect without --run, because the commands are only printed`, {
    hint: "add --run to run them",
  });
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
    choose({ command: "sweep", options: { source, ...settingsOf(raw), byDefault, run: null } });
  });
}

const EXAMPLES = [
  ["Print four commands", 'sshoal sweep "train.py --lr {lr} --bs {bs}" -p lr 1e-3 1e-4 -p bs 32 64'],
  [
    "Print 20 random commands",
    'sshoal sweep "python train.py --lr {lr}" -p lr=log:1e-5..1e-1 --n-samples 20',
  ],
  ["Write the commands of a sweep file to a batch file", "sshoal sweep sweep.yaml > jobs.sh"],
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
