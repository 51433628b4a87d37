// Expands shortened long options: `--machine` means `--machines`, if no other option begins like that.

import type { Command, Option } from "commander";
import { UserError } from "../../errors.js";

/** The words with every shortened option written out. Unknown ones do not change. */
export function spellOut(words: readonly string[], command: Command): string[] {
  const known = longOptions(command);
  const isExact = (name: string) => command.options.some(({ long }) => long === name);
  const spelled: string[] = [];
  let takesNext = false;
  for (const [index, word] of words.entries()) {
    if (word === "--" && !takesNext) return [...spelled, ...words.slice(index)];
    const full: string = takesNext ? word : spellOutWord(word, known, isExact);
    takesNext = !takesNext && command.options.some((option) => option.required && isAlone(option, full));
    spelled.push(full);
  }
  return spelled;
}

/** Those that help lists. */
export function longOptions(command: Command): string[] {
  return [...command.options.flatMap(({ long, hidden }) => (hidden ? [] : (long ?? []))), "--help"];
}

/** Its value is the next word, even if that looks like an option. */
function isAlone({ long, short }: Option, word: string): boolean {
  return word === long || word === short;
}

function spellOutWord(word: string, known: readonly string[], isExact: (name: string) => boolean): string {
  const [, name = "", value = ""] = /^(--[a-z][\w-]*)(=.*)?$/s.exec(word) ?? [];
  if (name === "" || isExact(name)) return word;
  const [only, ...others] = known.filter((option) => option.startsWith(name));
  if (only === undefined) return word;
  if (others.length === 0) return only + value;
  const all = [only, ...others].sort();
  throw new UserError(`${name} could mean ${all.join(", ")}`, { hint: "write it out" });
}
