// Suggests what to type instead of a command or an option that does not exist.

import type { Command, CommanderError } from "commander";
import { suggest } from "../../input/suggest.js";
import { visibleCommands } from "../help/lay-out.js";
import { longOptions } from "./abbreviations.js";

/** `command`: the one whose words could not be read. */
export function hintAtSpelling({ code, message }: CommanderError, command: Command): string {
  const [, word = ""] = /'([^']*)'/.exec(message) ?? [];
  const names = [command.parent, command].flatMap((each) => each?.name() ?? []).join(" ");
  if (code === "commander.unknownCommand") {
    if (/\.(ba)?sh$/.test(word)) return `${names} run ${word}`;
    return (
      didYouMean(
        word,
        visibleCommands(command).map((each) => each.name()),
      ) ?? `${names} --help`
    );
  }
  if (code !== "commander.unknownOption") return `${names} --help`;
  const bare = longOptions(command).map((option) => option.slice(2));
  return didYouMean(word.replace(/^-+|=.*$/gs, ""), bare, "--") ?? `${names} --help`;
}

function didYouMean(word: string, known: readonly string[], prefix = ""): string | null {
  const [nearest] = suggest(word, known);
  return nearest === undefined ? null : `did you mean ${prefix}${nearest}?`;
}
