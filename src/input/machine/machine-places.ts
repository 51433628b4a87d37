// Lists the places of a machine file, and names its machine.

import { posix } from "node:path";
import { suggest } from "../suggest.js";

const ENDINGS = [".yaml", ".yml"];
/** Where a name is looked for, in order. */
export const MACHINE_PLACES = [".", "machines", "~/.config/sshoal/machines", "~/.local/var"];

export function looksLikeMachineFile(path: string): boolean {
  return ENDINGS.some((ending) => path.toLowerCase().endsWith(ending));
}

/** Paths to try, in order; relative ones start at the working directory. */
export function candidatePaths(name: string, homeDir: string): string[] {
  const spellings = spellingsOf(expandHome(name, homeDir));
  return searchedDirectories(name, homeDir).flatMap((directory) =>
    spellings.map((spelling) => (directory === "." ? spelling : posix.join(directory, spelling))),
  );
}

/** "m1, m1.yaml, m1.yml in ., machines, /home/me/.config/sshoal/machines, /home/me/.local/var" */
export function describeSearch(name: string, homeDir: string): string {
  const spellings = spellingsOf(name).join(", ");
  return isRooted(name) ? spellings : `${spellings} in ${searchedDirectories(name, homeDir).join(", ")}`;
}

function searchedDirectories(name: string, homeDir: string): string[] {
  return isRooted(name) ? ["."] : MACHINE_PLACES.map((place) => expandHome(place, homeDir));
}

/** A path that begins with /, ./, ../ or ~/ is searched only there. */
function isRooted(name: string): boolean {
  return /^(\/|\.\.?\/|~\/)/.test(name);
}

function spellingsOf(name: string): string[] {
  return looksLikeMachineFile(name) ? [name] : [name, ...ENDINGS.map((ending) => name + ending)];
}

/** Suggests a name if one was not found, from the existing machine files and ssh aliases. */
export function hintAtExisting(
  name: string,
  existing: readonly string[],
  aliases: readonly string[],
): string | null {
  const stems = suggest(stemOf(name), new Set([...existing.map(stemOf), ...aliases]));
  const near = stems.flatMap((stem) => [
    ...existing.filter((path) => stemOf(path) === stem),
    ...aliases.filter((alias) => alias === stem),
  ]);
  if (near.length > 0) return `did you mean ${near.slice(0, 3).join(" or ")}?`;
  const all = [...existing, ...aliases];
  return all.length > 0 ? `there are ${all.slice(0, 5).join(", ")}` : null;
}

function stemOf(path: string): string {
  return posix.parse(path).name;
}

/** A machine has the name of its file. Files with the same name, or with the name of a host, are named by their paths. */
export function nameMachines(paths: readonly string[], hosts: readonly string[]): string[] {
  const count = new Map<string, number>();
  for (const name of [...paths.map((path) => posix.basename(path)), ...hosts])
    count.set(name, (count.get(name) ?? 0) + 1);
  return paths.map((path) => (count.get(posix.basename(path)) === 1 ? posix.basename(path) : path));
}

export function expandHome(path: string, homeDir: string): string {
  return path === "~" || path.startsWith("~/") ? posix.join(homeDir, path.slice(1)) : path;
}
