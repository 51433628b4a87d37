// What the configuration files set, for which commands, or everything that is wrong with them. Every option that a
// command defines is a key here: there is no second list of options.

import { dirname } from "node:path";
import type { Command, Option } from "commander";
import { type Problem, problemsError } from "../../../errors.js";
import { type ConfigEntry, readEntries } from "../../../input/config/config-entries.js";
import type { ConfigFile } from "../../../input/config/config-file.js";
import { formatPlace, type Place } from "../../../input/config/file-place.js";
import {
  type DefinedGroup,
  findUnknownGroup,
  type Groups,
  resolveGroups,
} from "../../../input/config/machine-groups.js";
import { machinesSeenFrom, pathSeenFrom, type Viewpoint } from "../../../input/config/seen-from.js";
import { type Mistake, toProblems } from "../../../input/mistake.js";
import { findKey } from "./config-key.js";
import type { LoadedConfig } from "./load-config.js";
import { readOptionValue } from "./option-value.js";

export interface Setting {
  /** The only command that it is for; null: every command that has the option. */
  readonly section: string | null;
  /** As written. */
  readonly key: string;
  /** The option, as help lists it. */
  readonly option: Option;
  readonly value: unknown;
  /** As written. Of variables: with their values, which may be secrets. */
  readonly words: readonly string[];
  readonly place: Place;
}

export interface Configuration {
  /** A later one takes precedence over an earlier one. */
  readonly settings: readonly Setting[];
  readonly groups: Groups;
}

interface Read {
  readonly settings: readonly Setting[];
  readonly groups: readonly DefinedGroup[];
  readonly problems: readonly Problem[];
}

/** `commands`: all of sshoal's. Throws one error with the mistakes of all files. */
export function readConfiguration(loaded: LoadedConfig, commands: readonly Command[]): Configuration {
  const { cwd, homeDir } = loaded.surroundings;
  const read = loaded.files.map((file) =>
    readFile(file, { directory: dirname(file.path), cwd, homeDir }, commands),
  );
  const problems = read.flatMap((each) => each.problems);
  const defined = read.flatMap((each) => each.groups);
  const groups = resolveGroups(defined, problems);
  const settings = read.flatMap((each) => each.settings);
  problems.push(...settings.flatMap((setting) => findUnknownGroups(setting, groups)));
  if (problems.length > 0) throw problemsError(problems);
  return { settings, groups };
}

function findUnknownGroups({ option, value, place }: Setting, groups: Groups): Problem[] {
  if (option.attributeName() !== "machines" || !Array.isArray(value)) return [];
  return value.flatMap((word: string) => findUnknownGroup(word, place, groups));
}

function readFile(file: ConfigFile, viewpoint: Viewpoint, commands: readonly Command[]): Read {
  const { root, placeOf } = file;
  if (root === null) return { settings: [], groups: [], problems: file.problems };
  const mistakes: Mistake[] = [];
  const sections = new Set(commands.map((command) => command.name()));
  const entries = readEntries(root, sections, mistakes);
  const settings: Setting[] = [];
  for (const entry of entries.settings) {
    const read = readSetting(entry, viewpoint, commands, mistakes);
    if (read === null) continue;
    if (file.level === "project" && sendsToken(read))
      mistakes.push({ offset: entry.offset, ...NOT_OF_PROJECT });
    const setting = { ...read, place: placeOf(entry.offset) };
    const same = settings.find((earlier) => isSameOption(earlier, setting));
    if (same === undefined) settings.push(setting);
    else mistakes.push({ offset: entry.offset, ...describeRepeated(setting, same) });
  }
  const groups = entries.groups.map(({ name, offset, members }) => ({
    name,
    place: placeOf(offset),
    members: members.map((member) => ({
      words: machinesSeenFrom(member.word, viewpoint),
      place: placeOf(member.offset),
    })),
  }));
  const problems = toProblems(mistakes, (offset) => formatPlace(placeOf(offset)));
  // A section takes precedence over what is for every command.
  const sorted = [...settings].sort((a, b) => Number(a.section !== null) - Number(b.section !== null));
  return { settings: sorted, groups, problems };
}

/** A directory that came from elsewhere must not lead the token of the user away. */
function sendsToken({ option, value }: Omit<Setting, "place">): boolean {
  const name = option.attributeName();
  return name === "tokenFile" || (name === "server" && String(value).startsWith("tcp://"));
}

const NOT_OF_PROJECT = {
  message: "the file of a project cannot say where your token is sent",
  hint: "put it into ~/.config/sshoal/config.yaml, or type it",
};

function readSetting(
  entry: ConfigEntry,
  viewpoint: Viewpoint,
  commands: readonly Command[],
  mistakes: Mistake[],
): Omit<Setting, "place"> | null {
  const { section, key, field } = entry;
  const found = findKey(entry, commands, mistakes);
  if (found === null) return null;
  const see = (word: string) => seen(found.listed, word, viewpoint);
  const read = readOptionValue(found, field, see, mistakes);
  return read === null ? null : { section, key, option: found.listed, ...read };
}

/** An option by two of its names: `gpu-required` and `no-gpu-required`. */
function describeRepeated({ key }: Setting, earlier: Setting): Omit<Mistake, "offset"> {
  return { message: `${key} is the same option as ${earlier.key}`, hint: "keep one" };
}

function isSameOption(a: Setting, b: Setting): boolean {
  return a.section === b.section && a.option.attributeName() === b.option.attributeName();
}

/** Machine files and -F are relative to the file. Paths that are copied are relative to the working directory. */
function seen(option: Option, word: string, viewpoint: Viewpoint): readonly string[] {
  switch (option.attributeName()) {
    case "machines":
      return machinesSeenFrom(word, viewpoint);
    case "F":
      return [pathSeenFrom(word, viewpoint)];
    default:
      return [word];
  }
}
