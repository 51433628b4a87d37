// What never travels: `.git`, `job_results`, and what ignore files say, as git reads them: each for its own directory
// and all below, the nearest one first.

import { readFileSync } from "node:fs";
import path from "node:path";
import ignore, { type Ignore } from "ignore";

export const IGNORE_FILE = ".sshoalignore";

/** No ignore file can take these back. */
const NEVER_TRAVELS = ignore({ ignorecase: false }).add(["/job_results", ".git"]);

export class IgnoreRules {
  readonly #dir: string;
  /** By directory, relative, "" for the top; null: it has no ignore file. */
  readonly #files = new Map<string, Ignore | null>();

  constructor(dir: string) {
    this.#dir = dir;
  }

  ignores(relative: string, isDirectory: boolean): boolean {
    const asked = isDirectory ? `${relative}/` : relative;
    if (NEVER_TRAVELS.ignores(asked)) return true;
    for (let above = parentOf(relative); ; above = parentOf(above)) {
      const verdict = this.#rulesOf(above)?.test(above === "" ? asked : asked.slice(above.length + 1));
      if (verdict?.ignored) return true;
      if (verdict?.unignored || above === "") return false;
    }
  }

  #rulesOf(relative: string): Ignore | null {
    const known = this.#files.get(relative);
    if (known !== undefined) return known;
    const rules = loadRules(path.join(this.#dir, relative, IGNORE_FILE));
    this.#files.set(relative, rules);
    return rules;
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
