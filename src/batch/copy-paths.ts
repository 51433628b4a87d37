// --copy-forward and --copy-backwards: paths inside the working directory, checked before anything is touched; and
// whether anything is copied at all.

import { existsSync } from "node:fs";
import path from "node:path";
import { type Problem, problemsError, UserError } from "../errors.js";
import type { BatchSettings } from "../model/batch.js";

type Copying = Pick<BatchSettings, "inPlace" | "copyForward" | "copyBack" | "exclude">;

interface Asked {
  readonly machines: readonly string[];
  /** Null, here and below: the option was not given. */
  readonly copyForward: readonly string[] | null;
  readonly copyBackwards: readonly string[] | null;
  readonly copiesUnchanged: boolean;
  /** Left out: none. */
  readonly exclude?: readonly string[];
}

/** On this machine jobs run where the user is, unless they are to have copies. */
export function resolveCopying(asked: Asked, workingDir: string): Copying {
  if (asked.machines.length === 0 && asked.copyForward === null) {
    refuseCopyingBack(asked);
    return { inPlace: workingDir, copyForward: [], copyBack: ["."] };
  }
  return {
    inPlace: null,
    copyForward: resolveForward(asked.copyForward ?? ["."], workingDir),
    copyBack: resolveBackwards(asked.copyBackwards ?? ["."], workingDir),
    ...(asked.exclude?.length && { exclude: asked.exclude.map(checkPattern) }),
  };
}

function refuseCopyingBack({ copyBackwards, copiesUnchanged, exclude = [] }: Asked): void {
  const given: [string, boolean][] = [
    ["--copy-backwards", copyBackwards !== null],
    ["--copy-unchanged", copiesUnchanged],
    ["--exclude", exclude.length > 0],
  ];
  const [flag] = given.find(([, isGiven]) => isGiven) ?? [];
  if (flag === undefined) return;
  throw new UserError(`${flag} has no meaning where jobs run in place: they leave files where they are`, {
    hint: "add --copy-forward ./ to give each job a copy of the working directory",
  });
}

/** What an ignore file would take for a comment or an exception leaves nothing out. */
function checkPattern(pattern: string): string {
  if (/^[^!#\s]/.test(pattern) && !/[\n\0]/.test(pattern)) return pattern;
  throw new UserError(`--exclude takes a pattern such as *.ckpt, got "${pattern}"`, {
    hint: /^[!#]/.test(pattern)
      ? `--exclude '\\${pattern}' for a name that begins like this`
      : "--exclude '*.ckpt'",
  });
}

/** Relative to `workingDir`, "." for all of it. */
function resolveForward(paths: readonly string[], workingDir: string): string[] {
  return resolveAll("--copy-forward", paths, workingDir, (relative) =>
    existsSync(path.join(workingDir, relative)) ? null : "there is no such file or directory",
  );
}

/** These need not exist yet: jobs make them. */
function resolveBackwards(paths: readonly string[], workingDir: string): string[] {
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
