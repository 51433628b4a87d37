// Machines and paths that a configuration file names, as a command in any directory has to name them.

import { statSync } from "node:fs";
import { isAbsolute, resolve } from "node:path";
import { candidatePaths } from "../machine/machine-places.js";

export interface Viewpoint {
  /** Of the configuration file. */
  readonly directory: string;
  /** Of the command; null: it was removed. */
  readonly cwd: string | null;
  readonly homeDir: string;
}

/** A machine file beside the configuration file counts first; any other name means what it means if it is typed. */
export function machinesSeenFrom(word: string, viewpoint: Viewpoint): string[] {
  const { directory, cwd, homeDir } = viewpoint;
  const parts = word.split(",").filter((part) => part !== "");
  const seeEach = () => parts.flatMap((part) => machinesSeenFrom(part, viewpoint));
  if (isList(word) && parts.some(isGroup)) return seeEach();
  if (isGroup(word) || directory === cwd) return [word];
  if (/^\.\.?\//.test(word)) return [resolve(directory, word)];
  const beside = candidatePaths(word, homeDir)
    .filter((path) => !isAbsolute(path))
    .map((path) => resolve(directory, path))
    .find(isFile);
  if (beside !== undefined) return [beside];
  return isList(word) && parts.length > 0 ? seeEach() : [word];
}

function isList(word: string): boolean {
  return word.includes(",");
}

function isGroup(word: string): boolean {
  return word.startsWith("@");
}

/** Like ssh, `none` is no file. */
export function pathSeenFrom(path: string, { directory }: Viewpoint): string {
  return path === "none" || /^~(\/|$)/.test(path) ? path : resolve(directory, path);
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
