// How --help looks: commands and options in groups, notes, examples last, in 80 columns or up to 100 on a wide terminal.

import { type Argument, type Command, type Help, Option } from "commander";
import { type Example, examplesOf, notesOf } from "./examples.js";
import { commandHeading, grouped, optionHeading } from "./help-groups.js";

const COLUMNS = 80;
/** Longer lines are hard to read. */
const MOST_COLUMNS = 100;
const HELP = new Option("-h, --help", "print this help");

/** For a program and all of its commands. */
export function layOutHelp(root: Command): void {
  if (root.commands.length > 0) root.helpCommand("help [command]", "Print the help of a command.");
  for (const command of [root, ...root.commands]) command.addHelpOption(HELP).configureHelp(LAYOUT);
}

/** With `help`, and without those that are for programs. */
export function visibleCommands(command: Command): Command[] {
  return command.createHelp().visibleCommands(command);
}

/** With what may be chosen, and what it is if nothing is said. */
export function describeOption(option: Option): string {
  const { description, argChoices, defaultValue, defaultValueDescription, required, optional } = option;
  const byDefault = required || optional ? (defaultValueDescription ?? defaultValue) : undefined;
  const brackets = [
    ...(argChoices === undefined ? [] : [listChoices(argChoices)]),
    ...(byDefault === undefined ? [] : [`default: ${byDefault}`]),
  ];
  return brackets.length === 0 ? description : `${description} (${brackets.join("; ")})`;
}

export function describeArgument({ description, argChoices }: Argument): string {
  return argChoices === undefined ? description : `${description} (${listChoices(argChoices)})`;
}

function listChoices(choices: readonly string[]): string {
  return choices.join(", ").replace(/, ([^,]*)$/, " or $1");
}

const LAYOUT: Partial<Help> & ThisType<Help> = {
  minWidthToWrap: 20,
  prepareContext({ helpWidth }) {
    this.helpWidth = Math.min(helpWidth ?? COLUMNS, MOST_COLUMNS);
  },
  subcommandTerm: (command) => [command.name(), ...command.registeredArguments.map(argumentTerm)].join(" "),
  argumentDescription: describeArgument,
  optionDescription: describeOption,
  styleTitle: (title) => `\x1b[1m${title}\x1b[22m`,
  formatHelp(command, helper) {
    const titled = (title: string, text: string) => `${this.styleTitle(`${title}:`)}${text}`;
    const wrapped = (text: string) => this.boxWrap(text, this.helpWidth ?? COLUMNS);
    const parts = [
      titled("Usage", ` ${this.commandUsage(command)}`),
      wrapped(this.commandDescription(command)),
      ...itemParts(command, helper),
      ...notesOf(command).map(({ heading, text }) => wrapped(titled(heading, ` ${text}`))),
      titled("Examples", examplesOf(command).map(exampleLines).join("")),
    ];
    return `${parts.join("\n\n")}\n`;
  },
};

/** What it takes, each group with its title: arguments, commands, options. */
function itemParts(command: Command, helper: Help): string[] {
  const width = helper.padWidth(command, helper);
  const part = (title: string, items: readonly string[]) => [helper.styleTitle(title), ...items].join("\n");
  const item = (term: string, description: string) => helper.formatItem(term, width, description, helper);
  const words = helper
    .visibleArguments(command)
    .map((each) => item(helper.argumentTerm(each), helper.argumentDescription(each)));
  const commands = grouped(helper.visibleCommands(command), commandHeading).map(([title, some]) => {
    const items = some.map((each) => item(helper.subcommandTerm(each), helper.subcommandDescription(each)));
    return part(title, items);
  });
  const options = grouped(helper.visibleOptions(command), optionHeading).map(([title, some]) => {
    const items = some.map((each) => item(helper.optionTerm(each), helper.optionDescription(each)));
    return part(title, items);
  });
  return [...(words.length > 0 ? [part("Arguments:", words)] : []), ...commands, ...options];
}

function exampleLines({ does, line }: Example): string {
  return `\n  ${does}:\n    ${line}`;
}

function argumentTerm(argument: Argument): string {
  const word = `${argument.name()}${argument.variadic ? "..." : ""}`;
  return argument.required ? `<${word}>` : `[${word}]`;
}
