// Options that a batch file sets by #@ lines: for all jobs, or for the one right below. They are those of the command
// line, read by the same definitions.

import { Command, CommanderError } from "commander";
import { type Problem, problemsError, UserError } from "../../errors.js";
import type { Batch } from "../../input/batch/batch-file.js";
import type { OptionLine } from "../../input/batch/job-splitter.js";
import { splitOptionWords } from "../../input/batch/option-words.js";
import type { Job, Requirement } from "../../model/job.js";
import { spellOut } from "./abbreviations.js";
import { hintAtSpelling } from "./misspelling.js";
import { type Environment, toAssignment } from "./option-values.js";
import { describeRun, type RawRun, type Revise, type RunOptions } from "./run-options.js";

const FOR_A_JOB = [
  "--num-cpus",
  "--memory-required",
  "--reserve",
  "--no-reserve-gpu",
  "--no-gpu-required",
  "--gpu-memory-required",
  "--gpu-utilization",
  "--gpus-per-job",
  "--timeout",
  "--env",
];
const FOR_ALL = [
  ...FOR_A_JOB,
  "--gpus",
  "--machines",
  "-F",
  "--host-keys",
  "--copy-forward",
  "--copy-backwards",
  "--copy-unchanged",
  "--exclude",
  "--max-send",
  "--retries",
  "--retry-on-failure",
  "--reassign-after",
];

export interface ScriptOptions {
  readonly options: RunOptions;
  /** With what is their own. */
  readonly jobs: readonly Job[];
  /** By job; their values may be secrets, and are no part of the jobs. */
  readonly jobEnv: ReadonlyMap<number, Readonly<Record<string, string>>>;
}

/** Throws UserError with every mistake of every line. */
export function applyScriptOptions(batch: Batch, revise: Revise, env: Environment): ScriptOptions {
  const reader = new OptionReader(batch.script, env);
  const forAll = reader.read(batch.forAll, FOR_ALL, "for all jobs");
  const own = new Map(
    [...batch.own].map(([line, options]) => [line, reader.read(options, FOR_A_JOB, "for one job")]),
  );
  if (reader.problems.length > 0) throw problemsError(reader.problems);
  const options = revise(forAll);
  const jobEnv = new Map<number, Readonly<Record<string, string>>>();
  const jobs = batch.jobs.map((job) => {
    const set = job.line === null ? undefined : own.get(job.line);
    if (set === undefined) return job;
    const revised = revise(forAll, set);
    if (set.env !== undefined) jobEnv.set(job.id, revised.env);
    return withOwn(job, set, revised, options.requirement);
  });
  return { options, jobs, jobEnv };
}

function withOwn(job: Job, set: Partial<RawRun>, revised: RunOptions, common: Requirement): Job {
  const { requirement, timeoutSeconds, env } = revised;
  return {
    ...job,
    ...(JSON.stringify(requirement) !== JSON.stringify(common) && { requirement }),
    ...(set.timeout !== undefined && timeoutSeconds !== null && { timeoutSeconds }),
    ...(set.env !== undefined && { envNames: Object.keys(env) }),
  };
}

class OptionReader {
  readonly problems: Problem[] = [];
  readonly #script: string;
  readonly #env: Environment;
  /** What has been read before: many jobs may have the same. */
  readonly #known = new Map<string, Partial<RawRun>>();

  constructor(script: string, env: Environment) {
    this.#script = script;
    this.#env = env;
  }

  /** Each line by itself, to know where a mistake is; then all of them as one. */
  read(lines: readonly OptionLine[], allowed: readonly string[], forWhom: string): Partial<RawRun> {
    const text = `${forWhom} ${lines.map((line) => line.text).join("\n")}`;
    const known = this.#known.get(text);
    if (known !== undefined) return known;
    const words = lines.flatMap((line) => this.#wordsOf(line, allowed, forWhom));
    const set = this.problems.length > 0 ? {} : parseWords(words).set;
    if (this.problems.length === 0) this.#known.set(text, set);
    return set;
  }

  #wordsOf({ line, text }: OptionLine, allowed: readonly string[], forWhom: string): string[] {
    try {
      const words = splitOptionWords(text);
      if (words === null) throw new UserError("a quote is not closed");
      const { set, flags, strays } = parseWords(words);
      const [odd] = flags.filter((flag) => !allowed.includes(flag));
      if (odd !== undefined || strays.length > 0) {
        const message = odd === undefined ? `"${strays[0]}" is no option` : `${odd} cannot be set here`;
        throw new UserError(message, { hint: `${forWhom}: ${allowed.join(" ")}` });
      }
      for (const assignment of set.env ?? []) toAssignment(assignment, this.#env);
      return words;
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      const hint = error.hint === undefined ? {} : { hint: error.hint };
      this.problems.push({ where: `${this.#script}:${line}`, message: error.message, ...hint });
      return [];
    }
  }
}

interface Parsed {
  /** What was said, without defaults. */
  readonly set: Partial<RawRun>;
  /** As they are spelled in help: `--no-reserve-gpu`. */
  readonly flags: readonly string[];
  readonly strays: readonly string[];
}

function parseWords(words: readonly string[]): Parsed {
  const command = describeRun(new Command("execute_batch")).helpOption(false).exitOverride();
  command
    .configureOutput({ writeErr: () => {} })
    .showSuggestionAfterError(false)
    .allowExcessArguments();
  command.action(() => {});
  try {
    command.parse(spellOut(words, command), { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    throw new UserError(error.message.replace(/^error: /, "").replaceAll("\n", " "), {
      hint: hintAtSpelling(error, command),
    });
  }
  const said = command.options.filter((option) => isSaid(command, option.attributeName(), option.negate));
  const set = Object.fromEntries(
    said.map((option) => [option.attributeName(), command.getOptionValue(option.attributeName())]),
  );
  return { set, flags: said.map(({ long, short }) => long ?? short ?? ""), strays: command.args };
}

function isSaid(command: Command, name: string, isNegated: boolean): boolean {
  return (
    command.getOptionValueSource(name) === "cli" && (!isNegated || command.getOptionValue(name) === false)
  );
}
