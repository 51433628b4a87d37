// Every help screen of every program: what people read first.

import type { Command, Option } from "commander";
import { describe, expect, test } from "vitest";
import { examplesOf } from "../../../../src/cli/help/examples.js";
import {
  commandHeading,
  groupedNames,
  NO_GROUP,
  optionHeading,
} from "../../../../src/cli/help/help-groups.js";
import { visibleCommands } from "../../../../src/cli/help/lay-out.js";
import { valueKind } from "../../../../src/cli/help/value-kinds.js";
import {
  describeForReading,
  PROGRAMS,
  type Program,
  parseOptions,
} from "../../../../src/cli/options/options.js";
import { splitOptionWords } from "../../../../src/input/batch/option-words.js";

const programs = PROGRAMS.map((program) => describeForReading(program));
const commands = programs.flatMap((program) => [
  program,
  ...visibleCommands(program).filter((command) => command.name() !== "help"),
]);
const named = commands.map((command): [string, Command] => [nameOf(command), command]);

function nameOf(command: Command): string {
  return [command.parent, command].flatMap((each) => each?.name() ?? []).join(" ");
}

/** `columns`: of the terminal; undefined: a pipe. */
function helpOf(command: Command, columns: number | undefined, hasColors = false): string {
  let text = "";
  command.configureOutput({
    getOutHelpWidth: () => columns as number,
    getOutHasColors: () => hasColors,
    writeOut: (part) => {
      text += part;
    },
  });
  command.outputHelp();
  return text;
}

function optionsOf(command: Command): Option[] {
  return command.createHelp().visibleOptions(command);
}

function longest(text: string): string {
  return text.split("\n").reduce((one, other) => (other.length > one.length ? other : one));
}

describe.each(named)("%s --help", (name, command) => {
  test.each([undefined, 80])("fits 80 columns, on a terminal of %s", (columns) => {
    const line = longest(helpOf(command, columns));
    expect(line.length, `shorten the text or example of ${name}: ${line}`).toBeLessThanOrEqual(80);
  });

  test("uses at most 100 columns of a wide terminal", () => {
    expect(longest(helpOf(command, 300)).length).toBeLessThanOrEqual(100);
  });

  test("begins with its usage, and ends with examples", () => {
    const help = helpOf(command, undefined);
    const last = help.split("\n\n").at(-1) ?? "";
    expect(help).toMatch(new RegExp(`^Usage: ${name} `));
    expect(last, `give ${name} examples: withExamples (src/cli/help/examples.ts)`).toMatch(
      /^Examples:\n( {2}[A-Z][^\n]*:\n {4}\S[^\n]*\n)+$/,
    );
  });

  test("has each option under a heading", () => {
    const strays = optionsOf(command).filter((option) => optionHeading(option) === NO_GROUP);
    const flags = strays.map((option) => option.flags);
    expect(flags, "add these to a group of OPTION_GROUPS in src/cli/help/help-groups.ts").toEqual([]);
  });

  test("says what each option does, beginning with a verb", () => {
    const nouns = optionsOf(command).filter(({ description }) => !VERBS.test(description));
    const texts = nouns.map((option) => `${option.flags}: ${option.description}`);
    expect(texts, "begin with a verb, in lower case; a new one goes to VERBS in this test").toEqual([]);
  });

  test("names each value by a word that completion knows", () => {
    const words = optionsOf(command)
      .filter(({ argChoices }) => argChoices === undefined)
      .flatMap(({ flags }) => /[<[](.+?)(?:\.\.\.)?[>\]]$/.exec(flags)?.[1] ?? []);
    const places = command.registeredArguments.filter(({ argChoices }) => argChoices === undefined);
    const all = [...words, ...places.map((argument) => argument.name())];
    const unknown = all.filter((word) => valueKind(command.name(), word) === null);
    expect(unknown, "add what these stand for to KINDS in src/cli/help/value-kinds.ts").toEqual([]);
  });

  test("has examples that the program takes", () => {
    for (const { line } of examplesOf(command)) {
      for (const [, program, rest = ""] of line.matchAll(CALL)) {
        const argv = splitOptionWords(rest.trim()) ?? [];
        if (argv.includes("--help")) continue;
        const invocation = parseOptions({ program: program as Program, argv, env: {} });
        expect(invocation.command, line).not.toBe("answered");
      }
    }
  });
});

const CALL = new RegExp(`\\b(${PROGRAMS.join("|")})((?: [^|<>)]*)?)`, "g");

const VERBS = new RegExp(
  `^(${[
    ..."accept add allow answer ask begin check choose collect connect copy count cut declare drop end exit follow give hand".split(
      " ",
    ),
    ..."hide ignore include keep leave let limit list make move name notify open order pass pause print".split(
      " ",
    ),
    ..."put read remove report reserve resume retry run save search send set share show skip sort".split(" "),
    ..."start stop take treat trust try use wait warn watch write".split(" "),
  ].join("|")}) `,
);

test("has each command of sshoal under a heading", () => {
  const strays = commands.filter(
    (command) => command.parent !== null && commandHeading(command) === NO_GROUP,
  );
  const names = strays.map((command) => command.name());
  expect(names, "add these to a group of COMMAND_GROUPS in src/cli/help/help-groups.ts").toEqual([]);
});

test("no heading waits for an option or a command that does not exist", () => {
  const options = commands.flatMap(optionsOf);
  const flags = new Set(
    options.flatMap(({ flags, long, short }) => [flags, flags.replace(/ [<[].*/, ""), long ?? short ?? ""]),
  );
  const names = new Set(
    programs.flatMap(visibleCommands).flatMap((command) => [command.name(), nameOf(command)]),
  );
  expect(groupedNames().flags.filter((flag) => !flags.has(flag))).toEqual([]);
  expect(groupedNames().commands.filter((command) => !names.has(command))).toEqual([]);
});

test("the groups come in one order, with choices and defaults in brackets", () => {
  const [run] = named.flatMap(([name, command]) => (name === "sshoal run" ? [command] : []));
  const help = helpOf(run as Command, 80);
  expect(help.match(/^[A-Z][^\n]*:$/gm)).toEqual([
    "Arguments:",
    "Which jobs:",
    "Which machines:",
    "What a job needs:",
    "What travels:",
    "Failures and reruns:",
    "Following:",
    "Output:",
    "Help:",
    "Examples:",
  ]);
  expect(help).toMatch(/--num-cpus <n> +set the cores that each job uses \(default: 1\)\n/);
  expect(help.replace(/\s+/g, " ")).toContain("(changed, failed or all; default: changed)");
});

test("clean lists --here apart from machines, and says what goes with it", () => {
  const [, clean] = named.find(([name]) => name === "sshoal clean") as [string, Command];
  const help = helpOf(clean, 100);
  expect(help).toMatch(/\nOn this computer:\n +--here /);
  expect(help.replace(/\s+/g, " ")).toContain("of each job, or all; needs --here (default: all)");
});

test("headings are bold where there are colours, and help has no other", () => {
  const [root] = programs.filter((program) => program.name() === "sshoal") as [Command];
  expect(helpOf(root, 80, true)).toContain("\x1b[1mRun a batch:\x1b[22m\n");
  expect(helpOf(root, 80, true).replace(/\x1b\[(1|22)m/g, "")).toBe(helpOf(root, 80));
});

test("a narrow terminal wraps texts beside their options", () => {
  const [, run] = named.find(([name]) => name === "sshoal run") as [string, Command];
  const options = helpOf(run, 60).split("Examples:")[0] ?? "";
  expect(longest(options).length).toBeLessThanOrEqual(60);
});

test("what is for programs alone is not listed, and not suggested", () => {
  const [root] = programs.filter((program) => program.name() === "sshoal") as [Command];
  expect(helpOf(root, 80)).not.toContain("complete-words");
  const mistyped = () => parseOptions({ program: "sshoal", argv: ["complete-word"], env: {} });
  expect(mistyped).toThrow(expect.objectContaining({ hint: "sshoal --help" }));
});
