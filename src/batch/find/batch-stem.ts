// Chooses the prefix for the names of a script's jobs. A batch is its file, whichever way the path was typed.

import { realpathSync } from "node:fs";
import path from "node:path";
import { UserError } from "../../errors.js";
import { formatJobStem } from "../../input/batch/job-name.js";
import { lastScript } from "../../run/home/last-script.js";
import type { Results } from "../../run/home/results.js";
import { quoteIfNeeded } from "../../transport/quote.js";

/** A growing file is followed by its name: the target of a link changes when it is rotated. */
export function stemOfFollowed(file: string, results: Results): string {
  const dir = path.dirname(results.dir);
  return formatJobStem(path.relative(dir, path.resolve(dir, file)));
}

/** Throws UserError if a batch of another file has that name in this directory. */
export function stemFor(script: string, results: Results): string {
  const dir = path.dirname(results.dir);
  const stem = formatJobStem(path.relative(realPath(dir, "."), realPath(dir, script)));
  const recorded = scriptOf(results, stem);
  // Version 0.1 named a batch for its path as typed.
  const asTyped = formatJobStem(script);
  if (recorded === null && asTyped !== stem) {
    const earlier = scriptOf(results, asTyped);
    if (earlier !== null && isSameFile(dir, script, earlier)) return asTyped;
  }
  if (recorded === null || isSameFile(dir, script, recorded) || isGone(dir, recorded)) return stem;
  throw new UserError(
    `${script} and ${recorded} are two scripts, but the results of both would be ${stem}.1 and so on`,
    { hint: `rename one of them: mv ${quoteIfNeeded(script)} …` },
  );
}

export function isSameFile(dir: string, one: string, other: string): boolean {
  return realPath(dir, one) === realPath(dir, other);
}

function scriptOf({ privateDir }: Results, stem: string): string | null {
  return lastScript(path.join(privateDir, `${stem}.jsonl`));
}

/** The script was moved: its batch continues under the new name. */
function isGone(dir: string, script: string): boolean {
  try {
    realpathSync(path.resolve(dir, script));
    return false;
  } catch {
    return script !== STDIN;
  }
}

const STDIN = "-";

/** For a missing file: the path as it is. */
function realPath(dir: string, file: string): string {
  const full = path.resolve(dir, file);
  try {
    return realpathSync(full);
  } catch {
    return full;
  }
}
