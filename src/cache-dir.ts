// The local directory for caches: compiled code, and facts about working directories.

import { lstatSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { readHomeDir } from "./account.js";

/** Null: another account could change files in it. */
export function cacheDir(): string | null {
  const dir = join(process.env.XDG_CACHE_HOME || join(readHomeDir(), ".cache"), "sshoal");
  return isOwnOrMissing(dir) ? dir : null;
}

const OTHERS_WRITE = 0o022;
const EVERYONE_WRITES = 0o002;
const STICKY = 0o1000;

/** True if no other account can write in `dir` or create it. */
export function isOwnOrMissing(dir: string): boolean {
  try {
    const found = lstatSync(dir, { throwIfNoEntry: false });
    const above = statSync(dirname(dir), { throwIfNoEntry: false })?.mode ?? 0;
    if ((above & EVERYONE_WRITES) !== 0 && (above & STICKY) === 0) return false;
    if (found === undefined) return true;
    return found.isDirectory() && found.uid === process.geteuid?.() && (found.mode & OTHERS_WRITE) === 0;
  } catch {
    return false;
  }
}
