// The variables that configuration files set for jobs, for a client that continues a batch: its record has their names only.

import { type Environment, variableOf } from "../option-values.js";
import type { Configuration, Setting } from "./config-settings.js";

/** Without those that a section sets, since it is not recorded for which command, and those that this shell does not have. */
export function variablesOf({ settings }: Configuration, env: Environment): Record<string, string> {
  const all = settings.filter(({ option }) => option.attributeName() === "env");
  const inSections = new Set(wordsOf(all, (section) => section !== null).map(variableOf));
  const known = wordsOf(all, (section) => section === null).flatMap((word): [string, string][] => {
    const name = variableOf(word);
    const value = word === name ? env[name] : word.slice(name.length + 1);
    return value === undefined || inSections.has(name) ? [] : [[name, value]];
  });
  return Object.fromEntries(known);
}

function wordsOf(settings: readonly Setting[], isMeant: (section: string | null) => boolean): string[] {
  return settings.flatMap(({ section, words }) => (isMeant(section) ? words : []));
}
