// What jobs need, and what else their commands have: the arguments, and the options of sshoal that they stand for.

import { UserError } from "../../errors.js";
import { quote } from "../../transport/quote.js";
import {
  amount,
  amounts,
  type Field,
  list,
  object,
  text,
  textOr,
  type ValuesOf,
  variables,
  whole,
  word,
} from "../call/arguments.js";

const MB = 1e9;
const YEAR_SECONDS = 366 * 86_400;

/** Of one job, or of all jobs of a call. */
export const NEED = {
  cpus: amount("Cores that each job uses [1].", 10_000),
  memoryMb: amount("Memory that each job uses, in MB of 2^20 bytes [7000; enqueue: 0].", MB),
  gpus: amount("GPUs of each job: 0 for none, 2, or a part such as 0.5 [1; enqueue: 0].", 1000),
  gpuMemoryMb: amount(
    "Free GPU memory that each job needs on each of its GPUs, in MB of 2^20 bytes [1000].",
    MB,
  ),
  gpuModel: word("A part of the name of the GPU, or several: A100|H100 [any]."),
  resources: amounts(
    "Other resources that machine files or the queue declare, name to amount: {licence: 1} [none].",
    1_000_000,
  ),
} as const;

const TIMEOUT = whole("Stop a job that runs longer, in seconds [no limit].", 1, YEAR_SECONDS);

/** Of run and enqueue. */
export const TERMS = {
  timeoutSeconds: TIMEOUT,
  retries: whole(
    "How often a lost job is run again; for enqueue also a failed one [2 for lost jobs].",
    0,
    100,
  ),
  env: variables(
    "Variables for the jobs, name to text. Their values are in no command line, and in no answer.",
  ),
} as const;

const LONGEST_COMMAND = 100_000;
const MOST_COMMANDS = 10_000;
const MOST_AFTER = 100;

/** A job's own name, as in `#@ --name`. */
const jobName: Field<string> = word("A name for the job: letters, digits, -, _ and dots.");

const OWN = {
  command: text("The command: a line for bash.", LONGEST_COMMAND),
  name: jobName,
  after: list(
    "Names of jobs of this call that must succeed before it begins.",
    word("The name of a job."),
    MOST_AFTER,
  ),
  ...NEED,
  timeoutSeconds: TIMEOUT,
} as const;

export const COMMANDS = list(
  "The commands, one job each: a text, or an object with the command, a name, what it comes after, and its own needs.",
  textOr(text("A command: a line for bash.", LONGEST_COMMAND), object(OWN, ["command"])),
  MOST_COMMANDS,
);

export type OwnCommandOf = string | ValuesOf<typeof OWN>;

type Needs = ValuesOf<typeof NEED> & { readonly timeoutSeconds?: number };

/** Options of sshoal, one word per item. */
export function needWords({
  cpus,
  memoryMb,
  gpus,
  gpuMemoryMb,
  gpuModel,
  resources,
  timeoutSeconds,
}: Needs): string[] {
  return [
    ...option("--num-cpus", cpus),
    ...option("--memory-required", memoryMb),
    ...(gpus === 0 ? ["--no-gpu-required"] : option("--gpus-per-job", gpus)),
    ...option("--gpu-memory-required", gpuMemoryMb),
    ...option("--gpu-model", gpuModel),
    ...(resources === undefined ? [] : ["--require", JSON.stringify(resources)]),
    ...(timeoutSeconds === undefined ? [] : ["--timeout", `${timeoutSeconds}s`]),
  ];
}

function option(flag: string, value: number | string | undefined): string[] {
  return value === undefined ? [] : [flag, `${value}`];
}

/** The words of a `#@` line above the command; empty: it has none. */
export function ownWords(own: OwnCommandOf): string[] {
  if (typeof own === "string") return [];
  const { name, after = [] } = own;
  const words = [
    ...option("--name", name),
    ...(after.length > 0 ? ["--after", after.join(",")] : []),
    ...needWords(own),
  ];
  return words.map((each) => (/^[\w./:@%+,-]+$/.test(each) ? each : quote(each)));
}

/** These would change sshoal itself before they reach a job. */
const OF_SSHOAL = /^(SSHOAL_|NODE_|LD_|XDG_)|^(PATH|HOME|USER|LOGNAME|SHELL|TMPDIR|SSH_AUTH_SOCK)$/;

/** Options that pass variables on by name, for a command that has them in its environment. */
export function envWords(env: Readonly<Record<string, string>> = {}): string[] {
  const names = Object.keys(env);
  const wrong = names.find((name) => OF_SSHOAL.test(name));
  if (wrong === undefined) return names.flatMap((name) => ["--env", name]);
  throw new UserError(`env.${wrong}: this variable would change sshoal itself`, {
    hint: `set it in the command: ${wrong}=… ./train`,
  });
}
