// The completion script for zsh: a function with the specifications of _arguments for each command, put into complete.zsh.

import {
  allCommands,
  allOptions,
  lastName,
  type Outline,
  type OutlinedOption,
  type Value,
} from "./outline.js";
import { plainWord } from "./plain-word.js";

export function zshCompletion(programs: readonly Outline[], template: string): string {
  const commands = programs.flatMap((program) => [program, ...allCommands(program)]);
  return template
    .replace("    @PROGRAM_CASES@", () => programs.map(programCase).join("\n"))
    .replace("    @LIST_CASES@", listCases(commands))
    .replace("@FUNCTIONS@", () => commands.map(commandFunction).join("\n\n"))
    .replaceAll("@PROGRAMS@", programs.map(({ name }) => name).join(" "));
}

function programCase({ name }: Outline): string {
  return `    ${name}) ${functionName(name)} && ret=0 ;;`;
}

function functionName(name: string): string {
  return `_sshoal_of_${name.replaceAll(" ", "_")}`;
}

function commandFunction(command: Outline): string {
  const commands = allCommands(command);
  const specs = [...allOptions(command).flatMap(optionSpecs), ...argumentSpecs(command)];
  const call = `  _arguments -C -S : \\\n${specs.map((spec) => `    ${spec}`).join(" \\\n")}`;
  const body = commands.length > 0 ? `${call} && ret=0\n${chooseCommand(commands)}` : call;
  return `${functionName(command.name)}() {\n${body}\n}`;
}

function argumentSpecs(command: Outline): string[] {
  if (command.commands.length > 0) return ["'1:command:->command'", "'*::argument:->argument'"];
  // The words of a list are arguments to _arguments: it would offer no options after them otherwise.
  if (allOptions(command).some(({ value }) => value?.isList)) {
    const [argument] = command.arguments;
    return [quoted(`*:${argument?.word ?? "word"}: _sshoal_word ${argument?.kind ?? "none"}`)];
  }
  return command.arguments.map((each, index) =>
    quoted(`${each.isList ? "*" : index + 1}:${each.word}:${action(each)}`),
  );
}

function chooseCommand(commands: readonly Outline[]): string {
  const described = commands.map(
    (each) => `        ${quoted(`${lastName(each)}:${each.summary.replace(/\.$/, "")}`)}`,
  );
  const cases = commands.map((each) => `        ${lastName(each)}) ${functionName(each.name)} && ret=0 ;;`);
  return [
    "  local -a commands",
    "  case $state in",
    "    command)",
    `      commands=(\n${described.join("\n")}\n      )`,
    "      _describe -t commands command commands && ret=0",
    "      ;;",
    "    argument)",
    `      case $words[1] in\n${cases.join("\n")}\n      esac`,
    "      ;;",
    "  esac",
    "  return ret",
  ].join("\n");
}

/** One for each of its flags; typing one hides the other, unless it may be repeated. */
function optionSpecs({ flags, value, brief, isRepeatable }: OutlinedOption): string[] {
  const isAlone = flags.includes("--help") || flags.includes("--version");
  const excluded = isAlone ? "(- : *)" : flags.length > 1 ? `(${flags.join(" ")})` : "";
  const about = brief.replace(/[\\[\]:]/g, "\\$&");
  const taken = value?.isRequired ? `:${value.word.replaceAll(":", "\\:")}:${action(value)}` : "";
  return flags.map((flag) => {
    const joint = taken === "" || value?.isList ? "" : flag.startsWith("--") ? "=" : "+";
    return quoted(`${isRepeatable ? "*" : excluded}${flag}${joint}[${about}]${taken}`);
  });
}

function action({ kind, choices }: Value): string {
  return kind === "words" ? `(${choices.map(plainWord).join(" ")})` : ` _sshoal_value ${kind}`;
}

/** By flag. The same in every command. */
function listCases(commands: readonly Outline[]): string {
  const kinds = new Map<string, string>();
  for (const { flags, value } of commands.flatMap(allOptions)) {
    if (value?.isList) for (const flag of flags) kinds.set(flag, value.kind);
  }
  return [...kinds].map(([flag, kind]) => `    ${flag}) _sshoal_value ${kind} ;;`).join("\n");
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
