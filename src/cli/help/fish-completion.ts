// The completion script for fish: one line of `complete` for each option and argument, put below the functions of complete.fish.

import {
  allCommands,
  allOptions,
  lastName,
  type Outline,
  type OutlinedArgument,
  type OutlinedOption,
  type Value,
} from "./outline.js";
import { plainWord } from "./plain-word.js";

export function fishCompletion(programs: readonly Outline[], template: string): string {
  const commands = programs.flatMap((program) => [program, ...allCommands(program)]);
  const lists = commands.flatMap(allOptions).filter(({ value }) => value?.isList);
  const flags = new Set(lists.flatMap((option) => option.flags));
  return template
    .replace("@LISTS@", [...flags].join(" "))
    .replace("@LINES@", () => programs.flatMap(programLines).join("\n"));
}

function programLines(program: Outline): string[] {
  const commands = allCommands(program);
  const complete = `complete -c ${program.name}`;
  return [
    `${complete} -f`,
    ...commandLines(program, complete, commands.length > 0 ? "__sshoal_in" : null),
    ...commands.map(
      (each) => `${complete} -n __sshoal_in -a ${lastName(each)}${about(each.summary.replace(/\.$/, ""))}`,
    ),
    ...commands.flatMap((each) => commandLines(each, complete, `__sshoal_in ${lastName(each)}`)),
  ];
}

/** `place`: the condition under which the words of the command are typed; null: always. */
function commandLines(command: Outline, complete: string, place: string | null): string[] {
  const when = (...conditions: (string | null)[]) => {
    const all = conditions.filter((condition) => condition !== null);
    return all.length === 0 ? complete : `${complete} -n '${all.join("; and ")}'`;
  };
  const options = allOptions(command);
  return [
    ...options.map((option) => `${when(place)}${optionWords(option)}${about(option.brief)}`),
    ...options.flatMap((option) => listLines(option, (condition) => when(place, condition))),
    ...command.arguments.flatMap((argument) => argumentLines(argument, when(place, "__sshoal_at_argument"))),
  ];
}

function optionWords({ flags, value }: OutlinedOption): string {
  const names = flags.map((flag) =>
    flag.startsWith("--") ? ` -l ${flag.slice(2)}` : ` -s ${flag.slice(1)}`,
  );
  return `${names.join("")}${value?.isRequired ? ` -r${offer(value)}` : ""}`;
}

/** The words of a list after its first. */
function listLines({ flags, value }: OutlinedOption, when: (condition: string) => string): string[] {
  if (value === null || !value.isList) return [];
  return flags.map((flag) => `${when(`__sshoal_in_list ${flag}`)}${offer(value)}`);
}

function argumentLines(argument: OutlinedArgument, complete: string): string[] {
  return argument.kind === "none" ? [] : [`${complete}${offer(argument)}`];
}

function offer({ kind, choices }: Value): string {
  switch (kind) {
    case "none":
      return " -f";
    case "files":
      return " -F";
    case "words":
      return ` -f -a '${choices.map(plainWord).join(" ")}'`;
    case "machines":
      return " -f -a '(__sshoal_machines)'";
    default:
      return ` -f -a '(__sshoal_names ${kind})'`;
  }
}

function about(text: string): string {
  return ` -d '${text.replace(/[\\']/g, "\\$&")}'`;
}
