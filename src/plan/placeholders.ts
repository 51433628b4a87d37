// Finds the placeholders for what a job got: `{gpu}`, or the name of a resource in braces. The machine replaces them when
// the job starts, because only the machine knows. All other braces belong to bash, JSON or awk and stay.

import type { Requirement } from "../model/job.js";
import { withoutPool } from "../model/resource.js";

/** The names that a job's command or variables have, in the order of the need. `texts`: the command, and values. */
export function placeholdersIn(
  texts: Iterable<string>,
  { gpu, resources = {} }: Pick<Requirement, "gpu" | "resources">,
): string[] {
  const names = new Set([...(gpu === null ? [] : ["gpu"]), ...Object.keys(resources).map(withoutPool)]);
  const all = [...texts];
  return [...names].filter((name) => all.some((text) => hasPlaceholder(text, name)));
}

/** `${gpu}` is a variable of the shell. */
function hasPlaceholder(text: string, name: string): boolean {
  const place = `{${name}}`;
  for (let at = text.indexOf(place); at !== -1; at = text.indexOf(place, at + 1))
    if (text[at - 1] !== "$") return true;
  return false;
}
