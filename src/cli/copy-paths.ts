// --copy-forward and --copy-backwards: paths inside the working directory, checked before anything is touched.

import { existsSync } from "node:fs";
import path from "node:path";
import { type Problem, problemsError } from "../errors.js";

/** Relative to `workingDir`, "." for all of it. */
export function resolveForward(paths: readonly string[], workingDir: string): string[] {
  return resolveAll("--copy-forward", paths, workingDir, (relative) =>
    existsSync(path.join(workingDir, relative)) ? null : "there is no such file or directory",
  );
}

/** These need not exist yet: jobs make them. */
export function resolveBackwards(paths: readonly string[], workingDir: string): string[] {
  return resolveAll("--copy-backwards", paths, workingDir, () => null);
}

function resolveAll(
  flag: string,
  paths: readonly string[],
  workingDir: string,
  mistakeIn: (relative: string) => string | null,
): string[] {
  const problems: Problem[] = [];
  const resolved = paths.map((each) => {
    const relative = path.relative(workingDir, path.resolve(workingDir, each)) || ".";
    const isOutside = relative === ".." || relative.startsWith(`..${path.sep}`) || path.isAbsolute(relative);
    const mistake = isOutside
      ? `it is outside the working directory ${workingDir}`
      : /[\n\0]/.test(relative)
        ? "its name holds a newline"
        : mistakeIn(relative);
    if (mistake !== null) problems.push({ where: `${flag} ${each}`, message: mistake });
    return relative;
  });
  if (problems.length > 0) throw problemsError(problems);
  return resolved;
}
