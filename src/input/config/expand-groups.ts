// `@lab` among the machines of a command line, replaced by the machines of that group.

import { UserError } from "../../errors.js";
import { suggest } from "../suggest.js";
import { formatPlace } from "./file-place.js";
import type { Groups } from "./machine-groups.js";

/** Words without a group stay as they are. Throws UserError when there is no such group. */
export function expandGroups(words: readonly string[], groups: Groups): readonly string[] {
  if (!words.some(hasGroup)) return words;
  const machines = words.flatMap((word) =>
    hasGroup(word)
      ? word
          .split(",")
          .filter((part) => part !== "")
          .flatMap((part) => (part.startsWith("@") ? machinesOf(part, groups) : [part]))
      : [word],
  );
  // Groups may overlap.
  return [...new Set(machines)];
}

/** `@lab`, or a list with one: `gpu3,@lab`. */
function hasGroup(word: string): boolean {
  return /(^|,)@/.test(word);
}

function machinesOf(word: string, groups: Groups): readonly string[] {
  const group = groups.get(word.slice(1));
  if (group !== undefined) return group.machines;
  throw new UserError(`there is no group ${word}`, { hint: hintAtGroups(word.slice(1), groups) });
}

function hintAtGroups(name: string, groups: Groups): string {
  if (groups.size === 0)
    return "define it below groups: in .sshoal.yaml or ~/.config/sshoal/config.yaml, such as lab: [gpu1, gpu2]";
  const [nearest] = suggest(name, groups.keys());
  const near = nearest === undefined ? undefined : groups.get(nearest);
  if (near !== undefined) return `did you mean @${nearest}, defined in ${formatPlace(near.place)}?`;
  const all = [...groups].map(([each, { place }]) => `@${each} (${formatPlace(place)})`);
  return `there are ${all.join(", ")}`;
}
