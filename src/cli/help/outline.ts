// A program's definitions as plain data: what man pages and completion scripts are made from.

import type { Argument, Command, Option } from "commander";
import { type Example, examplesOf, type Note, notesOf } from "./examples.js";
import { commandHeading, grouped, optionHeading } from "./help-groups.js";
import { describeArgument, describeOption, visibleCommands } from "./lay-out.js";
import { type ValueKind, valueKind } from "./value-kinds.js";

export interface Outline {
  /** `sshoal run`. */
  readonly name: string;
  /** What follows its name: `[options] [script]`. */
  readonly usage: string;
  /** One sentence. */
  readonly summary: string;
  readonly description: string;
  readonly arguments: readonly OutlinedArgument[];
  readonly options: readonly Group<OutlinedOption>[];
  readonly commands: readonly Group<Outline>[];
  readonly notes: readonly Note[];
  readonly examples: readonly Example[];
}

export interface Group<T> {
  readonly title: string;
  readonly items: readonly T[];
}

export interface OutlinedArgument extends Value {
  readonly description: string;
}

export interface OutlinedOption {
  /** `-v`, `--verbose`. */
  readonly flags: readonly string[];
  /** Null: it takes none. */
  readonly value: Value | null;
  /** With choices and default, as in help. */
  readonly description: string;
  /** What it does, in a few words. */
  readonly brief: string;
  readonly isRepeatable: boolean;
}

export interface Value {
  readonly word: string;
  /** It takes every word up to the next option. */
  readonly isList: boolean;
  readonly isRequired: boolean;
  readonly kind: ValueKind;
  /** For the kind "words". */
  readonly choices: readonly string[];
}

/** `above`: the program that it is a command of. */
export function outline(command: Command, above?: Command): Outline {
  const helper = command.createHelp();
  return {
    name: [above, command].flatMap((each) => each?.name() ?? []).join(" "),
    usage: command.usage(),
    summary: command.summary() || command.description(),
    description: command.description(),
    arguments: command.registeredArguments.map((each) => outlineArgument(each, command.name(), above)),
    options: grouped(helper.visibleOptions(command), optionHeading).map(([heading, some]) =>
      group(
        heading,
        some.map((each) => outlineOption(each, command.name())),
      ),
    ),
    commands: grouped(helper.visibleCommands(command), commandHeading).map(([heading, some]) =>
      group(
        heading,
        some.map((each) => outline(each, command)),
      ),
    ),
    notes: notesOf(command),
    examples: examplesOf(command),
  };
}

function group<T>(heading: string, items: readonly T[]): Group<T> {
  return { title: heading.replace(/:$/, ""), items };
}

export function allOptions({ options }: Outline): OutlinedOption[] {
  return options.flatMap(({ items }) => items);
}

export function allCommands({ commands }: Outline): Outline[] {
  return commands.flatMap(({ items }) => items);
}

/** `run` of `sshoal run`. */
export function lastName({ name }: Outline): string {
  return name.slice(name.lastIndexOf(" ") + 1);
}

function outlineArgument(argument: Argument, command: string, above?: Command): OutlinedArgument {
  const { required: isRequired, variadic: isList } = argument;
  const description = describeArgument(argument);
  const choices = command === "help" && above ? namesIn(above) : argument.argChoices;
  return { ...describeValue(command, argument.name(), choices), isList, isRequired, description };
}

function namesIn(program: Command): string[] {
  const names = visibleCommands(program).map((command) => command.name());
  return names.filter((name) => name !== "help");
}

function outlineOption(option: Option, command: string): OutlinedOption {
  const { flags, long, short, description, required, optional, variadic, argChoices } = option;
  const [, word = ""] = /[<[](.+?)(?:\.\.\.)?[>\]]$/.exec(flags) ?? [];
  const takesValue = required || optional;
  return {
    flags: [short, long].filter((flag) => flag !== undefined),
    value: takesValue
      ? { ...describeValue(command, word, argChoices), isList: variadic, isRequired: required }
      : null,
    description: describeOption(option),
    brief: description.replace(/ ?[:;(].*/s, ""),
    isRepeatable: /\brepeatable\b/.test(description),
  };
}

function describeValue(
  command: string,
  word: string,
  choices: readonly string[] = [],
): Pick<Value, "word" | "kind" | "choices"> {
  const kind = choices.length > 0 ? "words" : (valueKind(command, word) ?? "none");
  return { word, kind, choices };
}
