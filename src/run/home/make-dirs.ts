// Makes a directory and those above it.

import { mkdirSync, statSync } from "node:fs";
import path from "node:path";

/**
 * Returns the first one that it made; undefined: all were there. Not mkdirSync with `recursive`: where a file system
 * answers ENOENT although the directory above is there, as in /proc, Node would try again for ever.
 */
export function makeDirs(dir: string, mode?: number): string | undefined {
  const missing: string[] = [];
  for (let at = path.resolve(dir); !isDirectory(at); at = path.dirname(at)) missing.unshift(at);
  for (const each of missing) makeOne(each, mode);
  return missing[0];
}

/** Another process may make it at the same moment. */
function makeOne(dir: string, mode: number | undefined): void {
  try {
    mkdirSync(dir, { mode });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST" || !isDirectory(dir)) throw error;
  }
}

/** Throws if the path leads through a file. */
function isDirectory(dir: string): boolean {
  const stats = statSync(dir, { throwIfNoEntry: false });
  if (stats === undefined || stats.isDirectory()) return stats !== undefined;
  throw Object.assign(new Error(`EEXIST: ${dir} is no directory`), { code: "EEXIST" });
}
