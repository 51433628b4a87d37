// Removes files of which only a part arrived. Their names come from the machine, so nothing outside of the new results
// may be reached by them, not even through a link among these results.

import { lstatSync, rmSync } from "node:fs";
import path from "node:path";
import { RemoteError } from "../engine/remote-error.js";

/** Throws RemoteError for a name that is not below one of `keys`. */
export function checkReported(names: readonly string[], keys: ReadonlySet<string>): void {
  const bad = names.find((name) => !isBelow(name, keys));
  if (bad !== undefined)
    throw new RemoteError(`the report it sent cannot be trusted: it names ${JSON.stringify(bad)}`);
}

function isBelow(name: string, keys: ReadonlySet<string>): boolean {
  const parts = name.replace(/\/+$/, "").split("/");
  return (
    keys.has(parts[0] ?? "") && !name.includes("\0") && parts.every((part) => part !== "" && part !== "..")
  );
}

/** `names` were checked. A name that leads through a link, or is not there, is skipped. */
export function removePartial(into: string, names: readonly string[]): void {
  for (const name of names) {
    const parts = name.split("/").filter((part) => part !== "" && part !== ".");
    const above = parts.slice(0, -1).map((_, index) => path.join(into, ...parts.slice(0, index + 1)));
    if (parts.length > 1 && above.every(isDirectory))
      rmSync(path.join(into, ...parts), { force: true, recursive: true });
  }
}

function isDirectory(place: string): boolean {
  return lstatSync(place, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
