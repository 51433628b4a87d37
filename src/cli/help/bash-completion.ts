// The completion script for bash: the definitions as a table, put into complete.bash, which reads it.

import {
  allCommands,
  allOptions,
  lastName,
  type Outline,
  type OutlinedOption,
  type Value,
} from "./outline.js";
import { plainWord } from "./plain-word.js";

export function bashCompletion(programs: readonly Outline[], template: string): string {
  const commands = programs.flatMap((program) => [program, ...allCommands(program)]);
  return template
    .replace("    @TABLE@) ;;", () => commands.map(tableEntry).join("\n"))
    .replace("@PROGRAMS@", programs.map(({ name }) => name).join(" "));
}

function tableEntry(command: Outline): string {
  return [
    `    '${command.name}')`,
    `      options=(${allOptions(command).flatMap(optionWords).join(" ")})`,
    `      arguments=(${argumentKinds(command).join(" ")})`,
    "      ;;",
  ].join("\n");
}

function optionWords({ flags, value }: OutlinedOption): string[] {
  if (value === null) return [...flags];
  // A value that may be left out may also be followed by the next option.
  const many = value.isList || !value.isRequired ? "+" : "";
  return flags.map((flag) => `${flag}=${many}${kindWord(value)}`);
}

function argumentKinds(command: Outline): string[] {
  const commands = allCommands(command).map(lastName);
  if (commands.length > 0) return [`words:${commands.join(":")}`];
  return command.arguments.map((argument) => `${argument.isList ? "+" : ""}${kindWord(argument)}`);
}

function kindWord({ kind, choices }: Value): string {
  return kind === "words" ? `words:${choices.map(plainWord).join(":")}` : kind;
}
