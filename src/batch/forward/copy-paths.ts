// Checks the paths of --copy-forward and --copy-backwards, which must be inside the working directory, before anything
// happens. Decides whether anything is copied at all.

import { existsSync } from "node:fs";
import path from "node:path";
import { type Problem, problemsError, UserError } from "../../errors.js";
import type { BatchSettings } from "../../model/batch.js";
import { expandPattern, isPattern } from "./expand-pattern.js";

export type Copying = Pick<BatchSettings, "inPlace" | "copyForward" | "copyBack" | "exclude">;

interface Asked {
  readonly machines: readonly string[];
  /** Null, here and below: the option was not given. */
  readonly copyForward: readonly string[] | null;
  readonly copyBackwards: readonly string[] | null;
  readonly copiesUnchanged: boolean;
  /** Absent: none. */
  readonly exclude?: readonly string[];
}

/** On this machine jobs run in the user's directory, unless they get copies. */
export function resolveCopying(asked: Asked, workingDir: string): Copying {
  if (asked.machines.length === 0 && asked.copyForward === null) {
    refuseCopyingBack(asked);
    return { inPlace: workingDir, copyForward: [], copyBack: ["."] };
  }
  const problems: Problem[] = [];
  const copying = {
    inPlace: null,
    copyForward: resolveForward(asked.copyForward ?? ["."], { workingDir, problems }),
    copyBack: resolveBackwards(asked.copyBackwards ?? ["."], { workingDir, problems }),
    ...(asked.exclude?.length && { exclude: asked.exclude.map(checkPattern) }),
  };
  if (problems.length > 0) throw problemsError(problems);
  return copying;
}

function refuseCopyingBack({ copyBackwards, copiesUnchanged, exclude = [] }: Asked): void {
  const given: [string, boolean][] = [
    ["--copy-backwards", copyBackwards !== null],
    ["--copy-unchanged", copiesUnchanged],
    ["--exclude", exclude.length > 0],
  ];
  const [flag] = given.find(([, isGiven]) => isGiven) ?? [];
  if (flag === undefined) return;
  throw new UserError(`${flag} ${NO_MEANING}`, {
    hint: "add --copy-forward ./ to give each job a copy of the working directory",
  });
}

export const NO_MEANING = "has no effect if jobs run in place: their files stay where they are";

/** Refuses a pattern that an ignore file would treat as a comment or an exception. */
function checkPattern(pattern: string): string {
  if (/^[^!#\s]/.test(pattern) && !/[\n\0]/.test(pattern)) return pattern;
  throw new UserError(`--exclude takes a pattern such as *.ckpt, got "${pattern}"`, {
    hint: /^[!#]/.test(pattern)
      ? `--exclude '\\${pattern}' for a name that begins like this`
      : "--exclude '*.ckpt'",
  });
}

export interface Resolving {
  readonly workingDir: string;
  /** The text before the flag in a message, such as `train.sh:3: `; absent: none. */
  readonly before?: string;
  /** Each mistake is added. */
  readonly problems: Problem[];
}

/** Relative to the working directory, "." for all of it. */
export function resolveForward(paths: readonly string[], resolving: Resolving): string[] {
  const { workingDir } = resolving;
  return resolveAll("--copy-forward", paths, resolving, (relative) => {
    if (existsSync(path.join(workingDir, relative))) return [relative];
    return isPattern(relative) ? expandPattern(relative, workingDir) : [];
  });
}

/** These need not exist yet, because jobs make them. */
export function resolveBackwards(paths: readonly string[], resolving: Resolving): string[] {
  return resolveAll("--copy-backwards", paths, resolving, (relative) => [relative]);
}

/** `find`: the paths that one matches; none is a mistake. */
function resolveAll(
  flag: string,
  paths: readonly string[],
  { workingDir, before = "", problems }: Resolving,
  find: (relative: string) => string[],
): string[] {
  return paths.flatMap((each) => {
    const relative = path.relative(workingDir, path.resolve(workingDir, each)) || ".";
    const mistake = mistakeIn(relative, workingDir);
    const found = mistake === null ? find(relative) : [];
    const message = mistake ?? "there is no such file or directory";
    if (found.length === 0) problems.push({ where: `${before}${flag} ${each}`, message });
    return found;
  });
}

function mistakeIn(relative: string, workingDir: string): string | null {
  const isOutside = relative === ".." || relative.startsWith(`..${path.sep}`) || path.isAbsolute(relative);
  if (isOutside) return `it is outside the working directory ${workingDir}`;
  return /[\n\0]/.test(relative) ? "its name contains a newline" : null;
}
