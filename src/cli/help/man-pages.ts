// The man pages of programs and of their commands, in the macros of man(7).

import {
  allCommands,
  type Group,
  lastName,
  type Outline,
  type OutlinedOption,
  type Value,
} from "./outline.js";
import { bold, italic, roff, roffWord } from "./roff.js";

const MAIN = "sshoal";

/** By file name: a page for each program, and one for each of its commands. */
export function manPages(programs: readonly Outline[], version: string): Map<string, string> {
  const commands = programs.flatMap(allCommands).filter((command) => lastName(command) !== "help");
  const pages = [...programs, ...commands];
  const names = pages.map(pageName).filter((name) => name !== MAIN);
  return new Map(
    pages.map((page) => [`${pageName(page)}.1`, manPage(page, version, page.name === MAIN ? names : [MAIN])]),
  );
}

/** `sshoal-run`: one word, for `man sshoal-run`. */
function pageName({ name }: Outline): string {
  return name.replaceAll(" ", "-");
}

/** `others`: the names of pages to read next. */
function manPage(page: Outline, version: string, others: readonly string[]): string {
  const parts = [
    [`.TH ${roffWord(pageName(page).toUpperCase())} 1 "" ${roffWord(`sshoal ${version}`)} "User Commands"`],
    section("Name", `${roff(pageName(page))} \\- ${roff(asPhrase(page.summary))}`),
    section("Synopsis", `${bold(page.name)} ${roffUsage(page.usage)}`),
    section("Description", roff(page.description)),
    section(
      "Arguments",
      ...page.arguments.flatMap((each) => tagged(roffValue(each), asSentence(each.description))),
    ),
    section("Commands", ...entries(page.commands, commandEntry)),
    section("Options", ...entries(page.options, optionEntry)),
    ...page.notes.map(({ heading, text }) => section(SECTIONS[heading] ?? heading, roff(asSentence(text)))),
    // A section begins with a paragraph of its own.
    section("Examples", ...page.examples.flatMap(({ does, line }) => example(does, line)).slice(1)),
    section("See also", others.map((name) => `${bold(name)}(1)`).join(", ")),
  ];
  return `${parts.flat().join("\n")}\n`;
}

/** As other pages call it. */
const SECTIONS: Readonly<Record<string, string>> = { "Exit codes": "Exit status" };

/** None where there is nothing to say. */
function section(title: string, ...lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : [`.SH ${roffWord(title.toUpperCase())}`, ...lines];
}

function entries<T>(groups: readonly Group<T>[], entry: (item: T) => string[]): string[] {
  return groups.flatMap(({ title, items }) => [`.SS ${roffWord(title)}`, ...items.flatMap(entry)]);
}

function commandEntry(command: Outline): string[] {
  const words = command.arguments.map(roffValue);
  return tagged([bold(lastName(command)), ...words].join(" "), command.summary);
}

function optionEntry({ flags, value, description }: OutlinedOption): string[] {
  const names = flags.map(bold).join(", ");
  return tagged(value === null ? names : `${names} ${roffValue(value)}`, asSentence(description));
}

function tagged(term: string, text: string): string[] {
  return [".TP", term, roff(text)];
}

function roffValue({ word, isList, isRequired }: Pick<Value, "word" | "isList" | "isRequired">): string {
  const name = `${italic(word)}${isList ? " ..." : ""}`;
  return isRequired ? name : `[${name}]`;
}

/** `[options] [script]`. */
function roffUsage(usage: string): string {
  return usage.replace(/([[<])(.+?)(\.\.\.)?[\]>]/g, (_, bracket, word, more) =>
    roffValue({ word, isList: more !== undefined, isRequired: bracket === "<" }),
  );
}

function example(does: string, line: string): string[] {
  return [".PP", roff(`${does}:`), ".PP", ".RS 4", ".nf", roff(line), ".fi", ".RE"];
}

function asPhrase(sentence: string): string {
  return `${sentence.charAt(0).toLowerCase()}${sentence.slice(1)}`.replace(/\.$/, "");
}

function asSentence(phrase: string): string {
  return `${phrase.charAt(0).toUpperCase()}${phrase.slice(1)}`.replace(/\.?$/, ".");
}
