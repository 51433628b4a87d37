// Gives a command the values of the configuration files, where the command line has none.

import type { Command } from "commander";
import { problemsError, UserError } from "../../../errors.js";
import { formatPlace } from "../../../input/config/file-place.js";
import type { AskedNeed } from "../../../input/need/parse-need.js";
import { type Environment, toAssignment, variableOf } from "../option-values.js";
import { impliedBy } from "../require-option.js";
import { reasonAgainst } from "./config-key.js";
import type { Configuration, Setting } from "./config-settings.js";

/** What commander calls their source. */
const SOURCE = "config";

/** How machines are reached: these hold for programs with defaults of their own, too. */
const OF_REACHING = ["F", "hostKeys"];

/**
 * Values that stand beside the typed ones: variables add up, with those of a batch file in between, and -F of a file
 * has no meaning for a command without machines. A server of a file leaves the batches of a directory what they are.
 */
const BESIDE: Readonly<Record<string, string>> = {
  env: "envByDefault",
  F: "FByDefault",
  server: "serverByDefault",
};

/** `name`: of the section that is for the command; null: it has defaults of its own, but for how machines are reached. */
export function settingsFor(command: Command, name: string | null, { settings }: Configuration): Setting[] {
  const holding = settings.filter(({ section, option }) => {
    const attribute = option.attributeName();
    const isThere = command.options.some((each) => each.attributeName() === attribute);
    if (name === null) return isThere && section === null && OF_REACHING.includes(attribute);
    return isThere && (section ?? name) === name && reasonAgainst(name, option) === null;
  });
  return holding.filter((setting, index) => !isOvertaken(setting, holding.slice(index + 1)));
}

/** Variables add up. */
export function isOvertaken({ option }: Setting, later: readonly Setting[]): boolean {
  const name = option.attributeName();
  return name !== "env" && later.some((each) => each.option.attributeName() === name);
}

/** Returns those that count: the command line has not set them. */
export function applySettings(command: Command, settings: readonly Setting[], env: Environment): Setting[] {
  return settings.filter((setting) => {
    const name = setting.option.attributeName();
    const beside = BESIDE[name];
    if (beside === undefined && command.getOptionValueSource(name) === "cli") return false;
    const value = name === "env" ? withVariables(command, setting, env) : setting.value;
    command.setOptionValueWithSource(beside ?? name, value, SOURCE);
    if (name === "require") applyImplied(command, value as AskedNeed);
    return true;
  });
}

/** `require: {cpu: 2}` also sets num-cpus. */
function applyImplied(command: Command, need: AskedNeed): void {
  for (const [name, value] of impliedBy(need))
    if (command.getOptionValueSource(name) !== "cli") command.setOptionValueWithSource(name, value, SOURCE);
}

/** Those of earlier settings, and its own. Throws UserError when this shell does not have one that is passed on. */
function withVariables(command: Command, { words, place }: Setting, env: Environment): string[] {
  const before: readonly string[] = command.getOptionValue("envByDefault") ?? [];
  const typed: readonly string[] = command.getOptionValue("env") ?? [];
  const isTyped = (word: string) => typed.some((each) => variableOf(each) === variableOf(word));
  const open = words.filter((word) => !isTyped(word));
  try {
    for (const word of open) toAssignment(word, env);
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    const hint = error.hint === undefined ? {} : { hint: error.hint };
    throw problemsError([{ where: formatPlace(place), message: error.message, ...hint }]);
  }
  return [...before, ...open];
}
