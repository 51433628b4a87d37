// Parses a line of a batch with --kabuki-commands: `execute_remote "command" --job-name NAME …`, without --machine.

import { Command, CommanderError } from "commander";
import { UserError } from "../../errors.js";
import { outsideQuotes, splitQuotedWords, unquote } from "../../input/batch/option-words.js";
import { spellOut } from "./abbreviations.js";
import { hintAtSpelling } from "./misspelling.js";
import { pathsIn } from "./path-words.js";
import { describeOneJob } from "./remote-options.js";
import type { RawRun } from "./run-options.js";

export interface KabukiLine {
  /** What the machine's shell runs. */
  readonly command: string;
  /** Null: the line has none. */
  readonly name: string | null;
  /** As #@ lines would set them. */
  readonly copying: Pick<Partial<RawRun>, "copyForward" | "copyBackwards">;
}

interface RawLine extends Pick<Partial<RawRun>, "copyForward" | "copyBackwards"> {
  readonly jobName?: string;
  readonly machine?: string;
}

const PROGRAM = "execute_remote";
const EXAMPLE = `${PROGRAM} "python train.py"`;

/** Throws UserError with the mistake, without its place. */
export function parseKabukiLine(text: string): KabukiLine {
  const [program, ...words] = wordsOf(text);
  if (program !== PROGRAM) {
    throw new UserError(`this is no ${PROGRAM} command`, {
      hint: `write ${EXAMPLE}, or leave out --kabuki-commands`,
    });
  }
  const { typed, raw } = parseWords(words);
  const { jobName, machine, ...copying } = raw;
  if (machine !== undefined) {
    throw new UserError("--machine cannot be set here: jobs run on the machines of the batch", {
      hint: "remove it, and give execute_batch --machines",
    });
  }
  return { command: theCommand(typed, raw), name: jobName ?? null, copying };
}

function wordsOf(text: string): string[] {
  const words = splitQuotedWords(text, "#");
  if (words === null) throw new UserError("a quote is not closed", { hint: EXAMPLE });
  const odd = words.find((word) => /[;&|<>()`]/.test(outsideQuotes(word)));
  if (odd === undefined || words[0] !== PROGRAM) return words.map(unquote);
  throw new UserError(`"${odd}" is outside the quotes: the line must be one ${PROGRAM} command`, {
    hint: `put all that the machine runs into the quotes: ${PROGRAM} "python a.py && python b.py"`,
  });
}

function parseWords(words: readonly string[]): { typed: readonly string[]; raw: RawLine } {
  const command = describeOneJob(new Command(PROGRAM))
    .argument("[command]")
    .option("--machine <name>")
    .option("-v, --verbose")
    .helpOption(false)
    .exitOverride()
    .configureOutput({ writeErr: () => {} })
    .showSuggestionAfterError(false)
    .allowExcessArguments()
    .action(() => {});
  try {
    command.parse(spellOut(words, command), { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    const hint = hintAtSpelling(error, command);
    throw new UserError(error.message.replace(/^error: /, "").replaceAll("\n", " "), { hint });
  }
  return { typed: command.args, raw: command.opts() };
}

/** The paths of an option go on up to the next option, and include a command after them. */
function theCommand(typed: readonly string[], { copyForward, copyBackwards }: RawLine): string {
  const [command = "", second] = typed;
  if (second !== undefined) {
    throw new UserError(`"${second}" is a second command`, {
      hint: `one command in quotes: ${PROGRAM} "python train.py --lr 0.1"`,
    });
  }
  if (command.trim() !== "") return command;
  const swallowed = [...(pathsIn(copyForward) ?? []), ...(pathsIn(copyBackwards) ?? [])].at(-1);
  throw new UserError("which command?", {
    hint:
      swallowed === undefined
        ? EXAMPLE
        : `put it first, before the paths of options: ${EXAMPLE} --copy-forward data`,
  });
}
