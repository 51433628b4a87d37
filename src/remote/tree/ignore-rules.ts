// Decides what is never sent: `.git`, `job_results`, the patterns of --exclude, and those of ignore files. Ignore files
// work as in git: each for its own directory and everything below, the nearest one first.

import { readFileSync } from "node:fs";
import path from "node:path";
import ignore, { type Ignore } from "ignore";

export const IGNORE_FILE = ".sshoalignore";

/** No ignore file can include these again. */
const NEVER_TRAVELS = /^job_results(\/|$)|(^|\/)\.git(\/|$)/;

interface IgnoreFile {
  /** The length of the path prefix to which the ignore file's rules do not apply. */
  readonly offset: number;
  readonly rules: Ignore;
}

export class IgnoreRules {
  readonly #dir: string;
  /** The ignore files that apply in a directory, its own first; by its relative path, "" for the top. */
  readonly #files = new Map<string, readonly IgnoreFile[]>();

  readonly #exclude: Ignore;

  constructor(dir: string, exclude: readonly string[] = []) {
    this.#dir = dir;
    this.#exclude = ignore({ ignorecase: false }).add([...exclude]);
  }

  ignores(relative: string, isDirectory: boolean): boolean {
    if (NEVER_TRAVELS.test(relative)) return true;
    if (this.#exclude.test(`${relative}${isDirectory ? "/" : ""}`).ignored) return true;
    for (const { offset, rules } of this.#filesFor(parentOf(relative))) {
      const { ignored, unignored } = rules.test(`${relative.slice(offset)}${isDirectory ? "/" : ""}`);
      if (ignored || unignored) return ignored;
    }
    return false;
  }

  #filesFor(directory: string): readonly IgnoreFile[] {
    const known = this.#files.get(directory);
    if (known !== undefined) return known;
    const above = directory === "" ? [] : this.#filesFor(parentOf(directory));
    const rules = loadRules(path.join(this.#dir, directory, IGNORE_FILE));
    const offset = directory === "" ? 0 : directory.length + 1;
    const files = rules === null ? above : [{ offset, rules }, ...above];
    this.#files.set(directory, files);
    return files;
  }
}

function parentOf(relative: string): string {
  return relative.slice(0, Math.max(0, relative.lastIndexOf("/")));
}

function loadRules(file: string): Ignore | null {
  try {
    return ignore({ ignorecase: false }).add(readFileSync(file, "utf8"));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}
