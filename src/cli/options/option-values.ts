// Checks the values of options while the command line is read.

import { Option } from "commander";
import { UserError } from "../../errors.js";
import { splitOptionWords } from "../../input/batch/option-words.js";
import type { OutputLimit } from "../../model/output-limit.js";
import { isWrap, type Wrap } from "../../model/wrapper.js";
import { parseDuration } from "./duration.js";
import { parseSize } from "./size.js";

/** For `--env NAME`, which passes on the value of this shell. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Without a default: the default depends on other options. */
export function numberOption(flags: string, description: string, byDefault?: number): Option {
  return new Option(flags, description)
    .default(byDefault)
    .argParser((text) => toNumber(flags, text, /^\d+(\.\d+)?$/));
}

/** In MB, as nvidia-smi and free -m count them, if no unit is given. `base`: of a unit such as GB. */
export function memoryOption(flags: string, description: string, base: 1000 | 1024 = 1024): Option {
  const [name = ""] = flags.split(" ");
  return new Option(flags, description).argParser((text) => {
    const mb = /^\d+(\.\d+)?$/.test(text) ? Number(text) : (parseSize(text, base) ?? Number.NaN) / 2 ** 20;
    if (mb < 1e9) return base === 1024 ? mb : Math.floor(mb);
    throw new UserError(`${name} takes a size, got "${text}"`, {
      hint: `for example ${name} 3000 (MB) or 10GB`,
    });
  });
}

/** In bytes. A bare number is refused, because its unit would be a guess. */
export function sizeOption(flags: string, description: string): Option {
  const [name = ""] = flags.split(" ");
  return new Option(flags, description).argParser((text) => {
    const bytes = parseSize(text, 1000);
    if (bytes !== null) return bytes;
    throw new UserError(`${name} takes a size with a unit, got "${text}"`, {
      hint: `for example ${name} 500MB or 2GB`,
    });
  });
}

/** Below this there is hardly room for the line that stands for what is left out. */
const LEAST_OUTPUT_BYTES = 1000;

export function maxOutputOption(): Option {
  return (
    new Option(
      "--max-output <size>",
      "keep at most this of each output file of a job, its first and its last half: 100MB, or none",
    )
      .default(undefined, "none")
      // Not null: commander takes that for an empty word.
      .argParser((text): OutputLimit | "none" => (text === "none" ? "none" : toOutputLimit(text)))
  );
}

function toOutputLimit(text: string): OutputLimit {
  const bytes = parseSize(text, 1000);
  if (bytes !== null && bytes >= LEAST_OUTPUT_BYTES)
    return { bytes: Math.floor(bytes), text: text.replaceAll(/\s/g, "") };
  throw new UserError(`--max-output takes a size of 1kB or more, with a unit, or none, got "${text}"`, {
    hint: "for example --max-output 100MB",
  });
}

/** One word on the command line, quoted as in a shell; empty: none. */
export function wrapOption(): Option {
  return new Option(
    "--wrap <command>",
    "run each job inside this command: 'apptainer exec --nv image.sif'; '' for none (default: wrap: of the machine file)",
  ).argParser((text): Wrap => {
    const words = splitOptionWords(text);
    if (words !== null && isWrap(words)) return words;
    const why = words === null ? "a quote is not closed" : "it must begin with a command";
    throw new UserError(`--wrap ${text}: ${why}`, { hint: "for example --wrap 'apptainer exec image.sif'" });
  });
}

/** Infinity: all. */
export function maxOldOption(
  description = "keep at most this many earlier results of each job (.old-N, .again-N), or all",
): Option {
  return new Option("--max-old <n>", description)
    .default(undefined, "all")
    .argParser((text) =>
      text === "all" ? Number.POSITIVE_INFINITY : toNumber("--max-old <n>", text, /^\d{1,6}$/),
    );
}

/** Parts are counted in thousandths. */
export function cardCountOption(flags: string, description: string, byDefault: number): Option {
  const [name = ""] = flags.split(" ");
  return new Option(flags, description).default(byDefault).argParser((text) => {
    if (/^\d{1,6}(\.\d{1,3})?$/.test(text) && Number(text) > 0) return Number(text);
    throw new UserError(`${name} takes a number above 0 with at most three decimals, got "${text}"`, {
      hint: `for example ${name} 2, 0.5 or 2.5`,
    });
  });
}

/** Absent: no number. */
export function countOption(flags: string, description: string): Option {
  return new Option(flags, description).argParser((text) => toNumber(flags, text, /^[1-9]\d{0,5}$/));
}

/** 0 is also a number of lines. */
export function lineCountOption(flags: string, description: string): Option {
  return new Option(flags, description).argParser((text) => toNumber(flags, text, /^\d{1,6}$/));
}

export function seedOption(description: string): Option {
  return new Option("--seed <n>", description).argParser((text) => {
    if (/^\d+$/.test(text) && Number.isSafeInteger(Number(text))) return Number(text);
    throw new UserError(`--seed takes a whole number of 0 or more, got "${text}"`, {
      hint: "for example --seed 7",
    });
  });
}

export function retriesOption(): Option {
  return new Option("--retries <n>", "retry a job that is lost with its machine, at most this often")
    .default(2)
    .argParser((text) => toNumber("--retries <n>", text, /^\d{1,3}$/));
}

export function durationOption(flags: string, description: string): Option {
  const [name = ""] = flags.split(" ");
  return new Option(flags, description).argParser((text) => toDuration(name, text));
}

/** Of jobs: `toAssignment` reads each. */
export function variablesOption(): Option {
  return new Option(
    "--env <NAME=VALUE>",
    "set a variable for jobs; NAME alone passes on your own value; repeatable",
  ).argParser(gather);
}

export function timeoutOption(): Option {
  return durationOption("--timeout <duration>", "stop jobs that run longer than this: 90s, 10m, 2h");
}

export function reassignOption(): Option {
  return (
    new Option(
      "--reassign-after <duration>",
      "give waiting jobs of an unreachable machine to others after this time, or never",
    )
      .default(600, "10m")
      // Not null: commander treats that as an empty word.
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

export function gather(value: string, before: string[] = []): string[] {
  return [...before, value];
}

/** Of `NAME=VALUE`, or of `NAME`. */
export function variableOf(assignment: string): string {
  return assignment.split("=")[0] ?? "";
}

export function toAssignment(text: string, env: Environment): [string, string] {
  const [, name = "", value] = /^([A-Za-z_][A-Za-z0-9_]*)(?:=([\s\S]*))?$/.exec(text) ?? [];
  if (name === "")
    throw new UserError(`--env takes NAME=VALUE, got "${variableOf(text)}"`, {
      hint: "for example --env SEED=1",
    });
  const resolved = value ?? env[name];
  if (resolved !== undefined) return [name, resolved];
  throw new UserError(`--env ${name}: this shell has no ${name} to pass on`, {
    hint: `export ${name}=…, or --env ${name}=VALUE`,
  });
}
