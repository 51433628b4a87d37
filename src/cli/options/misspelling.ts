// Suggests what to type instead of a command, an option or a choice that does not exist.

import type { Command, CommanderError } from "commander";
import { UserError } from "../../errors.js";
import { suggest } from "../../input/suggest.js";
import { visibleCommands } from "../help/lay-out.js";
import { longOptions } from "./abbreviations.js";

/** `command`: the one whose words could not be read. `typed`: all words of the line. */
export function spellingError(error: CommanderError, command: Command, typed: readonly string[]): UserError {
  if (error.code === "commander.help") return helpError(command, typed);
  return new UserError(error.message.replace(/^error: /, ""), { hint: hintAtSpelling(error, command) });
}

/** Commander does not say which command `help` was asked about. */
function helpError(command: Command, typed: readonly string[]): UserError {
  const word = typed.find((each) => each !== "help" && !each.startsWith("-"));
  if (word === undefined) return new UserError("which command?", { hint: helpOf(command) });
  const hint = didYouMean(word, commandNames(command)) ?? helpOf(command);
  return new UserError(`unknown command '${word}'`, { hint });
}

export function hintAtSpelling({ code, message }: CommanderError, command: Command): string {
  return hintAt(code, message, command) ?? helpOf(command);
}

function helpOf(command: Command): string {
  return `${[command.parent, command].flatMap((each) => each?.name() ?? []).join(" ")} --help`;
}

function hintAt(code: string, message: string, command: Command): string | null {
  const [, word = ""] = /'([^']*)'/.exec(message) ?? [];
  if (code === "commander.unknownCommand")
    return /\.(ba)?sh$/.test(word)
      ? `${command.name()} run ${word}`
      : didYouMean(word, commandNames(command));
  if (code === "commander.invalidArgument") return hintAtChoice(message);
  if (code !== "commander.unknownOption") return null;
  const bare = longOptions(command).map((option) => option.slice(2));
  return didYouMean(word.replace(/^-+|=.*$/gs, ""), bare, "--");
}

function hintAtChoice(message: string): string | null {
  const found = /(?:argument|value) '(.*)' is invalid.* Allowed choices are (.*)\.$/s.exec(message);
  const [, word = "", choices = ""] = found ?? [];
  return didYouMean(word, choices.split(", "));
}

function commandNames(command: Command): string[] {
  return visibleCommands(command).map((each) => each.name());
}

function didYouMean(word: string, known: readonly string[], prefix = ""): string | null {
  const [nearest] = suggest(word, known);
  return nearest === undefined ? null : `did you mean ${prefix}${nearest}?`;
}
