// Groups of machines that configuration files define, each resolved into the machines it stands for.

import type { Problem } from "../../errors.js";
import { suggest } from "../suggest.js";
import { formatPlace, type Place } from "./file-place.js";

interface Group {
  readonly place: Place;
  /** As --machines takes them, without groups. */
  readonly machines: readonly string[];
}

export type Groups = ReadonlyMap<string, Group>;

/** A group as a file has it; members may be other groups. */
export interface DefinedGroup {
  readonly name: string;
  readonly place: Place;
  readonly members: readonly { readonly words: readonly string[]; readonly place: Place }[];
}

/** Of two groups with one name, the later one counts. */
export function resolveGroups(defined: readonly DefinedGroup[], problems: Problem[]): Groups {
  const byName = new Map(defined.map((group) => [group.name, group]));
  problems.push(...findUnknown(byName), ...findCircles(byName));
  const machinesOf = (name: string, way: readonly string[]): string[] =>
    wordsOf(byName.get(name)).flatMap(({ word }) => {
      if (!word.startsWith("@")) return [word];
      return [...way, name].includes(word.slice(1)) ? [] : machinesOf(word.slice(1), [...way, name]);
    });
  return new Map(
    [...byName].map(([name, { place }]) => [name, { place, machines: [...new Set(machinesOf(name, []))] }]),
  );
}

function wordsOf(group: DefinedGroup | undefined): { word: string; place: Place }[] {
  return (group?.members ?? []).flatMap(({ words, place }) => words.map((word) => ({ word, place })));
}

type ByName = ReadonlyMap<string, DefinedGroup>;

function findUnknown(byName: ByName): Problem[] {
  return [...byName.values()]
    .flatMap(wordsOf)
    .flatMap(({ word, place }) => findUnknownGroup(word, place, byName));
}

/** `known`: by their names, without the @. */
export function findUnknownGroup(word: string, place: Place, known: ReadonlyMap<string, unknown>): Problem[] {
  if (!word.startsWith("@") || known.has(word.slice(1))) return [];
  const [nearest] = suggest(word.slice(1), known.keys());
  const hint = nearest === undefined ? "define it below groups:" : `did you mean @${nearest}?`;
  return [{ where: formatPlace(place), message: `there is no group ${word}`, hint }];
}

/** Each circle once, at the member that closes it. */
function findCircles(byName: ByName): Problem[] {
  const circles = new Map<string, Problem>();
  const visit = (name: string, way: readonly string[]): void => {
    for (const { word, place } of wordsOf(byName.get(name))) {
      const next = word.startsWith("@") ? word.slice(1) : null;
      const path = [...way, name];
      if (next === null) continue;
      if (!path.includes(next)) visit(next, path);
      else if (next === path[0] && !circles.has([...path].sort().join()))
        circles.set([...path].sort().join(), describeCircle([...path, next], place));
    }
  };
  for (const name of byName.keys()) visit(name, []);
  return [...circles.values()];
}

function describeCircle(path: readonly string[], place: Place): Problem {
  const message = `the group contains itself: ${path.map((name) => `@${name}`).join(" -> ")}`;
  return { where: formatPlace(place), message, hint: "remove one of them" };
}
