// Reads the lines of a batch file that set options, and notes each mistake with its line.

import { Command, CommanderError, type Option } from "commander";
import { type Problem, UserError } from "../../errors.js";
import type { OptionLine } from "../../input/batch/job-splitter.js";
import { splitOptionWords } from "../../input/batch/option-words.js";
import type { Job } from "../../model/job.js";
import { spellOut } from "./abbreviations.js";
import { describeRun } from "./describe-run.js";
import { type KabukiLine, parseKabukiLine } from "./kabuki-line.js";
import { hintAtSpelling } from "./misspelling.js";
import { addOpposites, oppositeOf } from "./opposites.js";
import { type Environment, gather, toAssignment } from "./option-values.js";
import type { RawRun } from "./run-options.js";

export interface RawScript extends RawRun {
  readonly name?: string;
  /** Names of jobs, with commas, here and below. */
  readonly after?: string[];
  readonly afterAny?: string[];
  readonly afterFail?: string[];
}

export class OptionReader {
  readonly problems: Problem[] = [];
  readonly #script: string;
  readonly #env: Environment;
  /** Lines that were read before: many jobs may have the same. */
  readonly #known = new Map<string, Partial<RawScript>>();

  constructor(script: string, env: Environment) {
    this.#script = script;
    this.#env = env;
  }

  /** Reads each line alone, to know the place of a mistake; then all of them as one. */
  read(lines: readonly OptionLine[], allowed: readonly string[], forWhom: string): Partial<RawScript> {
    const text = `${forWhom} ${lines.map((line) => line.text).join("\n")}`;
    const known = this.#known.get(text);
    if (known !== undefined) return known;
    const words = lines.flatMap((line) => this.#wordsOf(line, allowed, forWhom));
    const set = this.problems.length > 0 ? {} : parseWords(words).set;
    if (this.problems.length === 0) this.#known.set(text, set);
    return set;
  }

  /** Null: it has a mistake. */
  readCall({ line, command }: Job): KabukiLine | null {
    return this.check(this.#placeOf(line ?? 0), () => parseKabukiLine(command));
  }

  /** Notes a mistake at `where`, `train.sh:3`. Null: there was one. */
  check<T>(where: string, read: () => T): T | null {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      const hint = error.hint === undefined ? {} : { hint: error.hint };
      this.problems.push({ where, message: error.message, ...hint });
      return null;
    }
  }

  #wordsOf({ line, text }: OptionLine, allowed: readonly string[], forWhom: string): string[] {
    const read = () => {
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
    };
    return this.check(this.#placeOf(line), read) ?? [];
  }

  #placeOf(line: number): string {
    return `${this.#script}:${line}`;
  }
}

interface Parsed {
  /** The options that were set, without defaults. */
  readonly set: Partial<RawScript>;
  /** As spelled in help: `--no-reserve-gpu`. */
  readonly flags: readonly string[];
  readonly strays: readonly string[];
}

function parseWords(words: readonly string[]): Parsed {
  const command = describeRun(new Command("execute_batch")).helpOption(false).exitOverride();
  command
    .option("--name <name>")
    .option("--after <jobs>", "", gather)
    .option("--after-any <jobs>", "", gather)
    .option("--after-fail <jobs>", "", gather)
    .configureOutput({ writeErr: () => {} })
    .showSuggestionAfterError(false)
    .allowExcessArguments();
  addOpposites(command).action(() => {});
  try {
    command.parse(spellOut(words, command), { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    throw new UserError(error.message.replace(/^error: /, "").replaceAll("\n", " "), {
      hint: hintAtSpelling(error, command),
    });
  }
  const said = command.options.filter((option) => isSaid(command, option));
  const set = Object.fromEntries(
    said.map((option) => [option.attributeName(), command.getOptionValue(option.attributeName())]),
  );
  return { set, flags: said.map(listedFlag), strays: command.args };
}

function isSaid(command: Command, option: Option): boolean {
  const name = option.attributeName();
  return (
    command.getOptionValueSource(name) === "cli" && (!option.negate || command.getOptionValue(name) === false)
  );
}

/** An opposite may stand where the option itself may. */
function listedFlag(option: Option): string {
  return (option.hidden ? oppositeOf(option) : (option.long ?? option.short)) ?? "";
}
