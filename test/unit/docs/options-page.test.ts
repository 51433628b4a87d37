// docs/options.md lists the options of every command, and no others.

import type { Command, Option } from "commander";
import { describe, expect, test } from "vitest";
import { describeForReading, type Program } from "../../../src/cli/options/options.js";
import { anchors, readPage } from "../../rig/markdown.js";

const PROGRAMS: readonly Program[] = [
  "execute_batch",
  "execute_remote",
  "grass",
  "simple_gpu_scheduler",
  "simple_hypersearch",
  "sshoal",
];

interface Section {
  readonly title: string;
  readonly anchor: string;
  /** As in the first column of its table: `-v, --verbose`. */
  readonly flags: readonly string[];
  /** Other sections whose options belong to it, from its line `Options: …`. */
  readonly includes: readonly string[];
}

const sections = readSections(readPage("docs/options.md"));
const commands = new Map(PROGRAMS.flatMap(commandsOf));

function commandsOf(program: Program): [string, Command][] {
  const root = describeForReading(program);
  if (root.commands.length === 0) return [[program, root]];
  const listed = root
    .createHelp()
    .visibleCommands(root)
    .filter((command) => command.name() !== "help");
  return listed.map((command) => [`${program} ${command.name()}`, command]);
}

function readSections(page: string): Section[] {
  return page
    .split(/^#{2,4} /m)
    .slice(1)
    .map((text) => {
      const [title = ""] = text.split("\n");
      const [anchor = ""] = anchors(`# ${title}`);
      const [, taken = ""] = /^Options: (.*(?:\n\S.*)*)/m.exec(text) ?? [];
      return {
        title,
        anchor,
        flags: text.split("\n\n").filter(isOptionTable).flatMap(firstColumn),
        includes: [...taken.matchAll(/\]\(#([^)]*)\)/g)].map(([, name = ""]) => name),
      };
    });
}

function isOptionTable(paragraph: string): boolean {
  return /^\| option /.test(paragraph);
}

function firstColumn(table: string): string[] {
  return [...table.matchAll(/^\| `(-[^`]*)`/gm)].map(([, flags = ""]) => flags);
}

/** `## execute_batch, sshoal run` is the section of both. */
function sectionsOf(command: string): Section[] {
  return sections.filter(({ title }) => title.split(", ").includes(command));
}

function flagsIn(section: Section): string[] {
  const included = section.includes.flatMap((name) => sections.filter(({ anchor }) => anchor === name));
  return [...section.flags, ...included.flatMap(flagsIn)];
}

describe.each([...commands.keys()])("%s", (name) => {
  test("has a section, with exactly the options of the command", () => {
    expect(sectionsOf(name).map(({ title }) => title)).toHaveLength(1);
    const listed = sectionsOf(name).flatMap(flagsIn);
    const isListed = ({ hidden, long }: Option) => !hidden && long !== "--version";
    const defined = (commands.get(name)?.options ?? []).filter(isListed).map(({ flags }) => flags);
    expect(listed.sort()).toEqual(defined.sort());
  });
});

test("no options are listed that belong to no command", () => {
  const taken = new Set([...commands.keys()].flatMap(sectionsOf).flatMap(flagsIn));
  const strays = sections.flatMap(({ flags }) => flags).filter((flags) => !taken.has(flags));
  expect(strays).toEqual([]);
});

test("no section is about a command that does not exist", () => {
  const named = sections
    .flatMap(({ title }) => title.split(", "))
    .filter((title) => /^sshoal [a-z]+$/.test(title));
  expect(named.filter((name) => !commands.has(name))).toEqual([]);
});
