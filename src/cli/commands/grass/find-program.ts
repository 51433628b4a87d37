// Whether a word can be run, as a shell would find it.

import { accessSync, constants, statSync } from "node:fs";
import path from "node:path";

export interface Searching {
  /** Of the job. */
  readonly cwd: string;
  /** PATH. */
  readonly path: string | undefined;
}

export function isProgram(word: string, { cwd, path: search = "" }: Searching): boolean {
  if (word === "") return false;
  if (word.includes("/")) return isExecutable(path.resolve(cwd, word));
  return search.split(":").some((dir) => isExecutable(path.resolve(cwd, dir, word)));
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
