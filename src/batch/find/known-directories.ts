// The directories of this computer in which this user has run batches: one small file for each, so that `status --all` finds
// them. Only that command needs them: what cannot be written or read here stops nothing else.

import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import { findDistrust } from "../../run/home/distrust-records.js";
import { Results } from "../../run/home/results.js";
import { removeStateFile, type StatePlace, stateFileName, stateFilesDir } from "../state-files.js";

/** The least recently used beyond these are forgotten until a command runs in them again. */
const MOST_DIRECTORIES = 1000;
const ENTRY = /^[0-9a-f]{32}$/;

/** Makes `dir` known, or notes that it is in use. */
export function rememberDirectory(place: StatePlace, dir: string): void {
  const entries = stateFilesDir(place, "directories");
  if (entries === null) return;
  const entry = path.join(entries, stateFileName(dir));
  const now = new Date();
  try {
    utimesSync(entry, now, now);
  } catch {
    writeEntry(entries, entry, dir);
  }
}

/** The same for a directory of which it is not known whether this user ran batches there. */
export function rememberIfUsed(place: StatePlace, dir: string): void {
  const results = new Results(dir);
  if (results.isThere() && findDistrust(results.privateDir) === null) rememberDirectory(place, dir);
}

/** The last used first. Those whose records are gone are forgotten. */
export function knownDirectories(place: StatePlace): string[] {
  const entries = stateFilesDir(place, "directories");
  if (entries === null) return [];
  const byUse = listEntries(entries).sort((one, other) => other.usedAt - one.usedAt);
  // Where one cannot be removed, it is passed over again the next time.
  for (const { file } of byUse.slice(MOST_DIRECTORIES)) removeStateFile(file);
  return byUse.slice(0, MOST_DIRECTORIES).flatMap(({ file }) => {
    const dir = readEntry(file);
    if (dir !== null && isThere(dir)) return [dir];
    removeStateFile(file);
    return [];
  });
}

/** By a rename: a reader never finds an empty file, which it would take for damage. */
function writeEntry(entries: string, entry: string, dir: string): void {
  try {
    mkdirSync(entries, { recursive: true, mode: 0o700 });
    writeFileSync(`${entry}.new`, dir, { mode: 0o600 });
    renameSync(`${entry}.new`, entry);
  } catch {
    // A home that cannot be written: the directory is not listed, and the batch runs all the same.
  }
}

function listEntries(entries: string): { readonly file: string; readonly usedAt: number }[] {
  try {
    return readdirSync(entries)
      .filter((name) => ENTRY.test(name))
      .map((name) => path.join(entries, name))
      .map((file) => ({ file, usedAt: statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0 }));
  } catch {
    return [];
  }
}

/** Null: it is not what we wrote. */
function readEntry(file: string): string | null {
  try {
    const dir = readFileSync(file, "utf8");
    return path.isAbsolute(dir) && stateFileName(dir) === path.basename(file) ? dir : null;
  } catch {
    return null;
  }
}

/** True also where it cannot be known, as on a disk that answers with errors. */
function isThere(dir: string): boolean {
  try {
    return statSync(new Results(dir).privateDir).isDirectory();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code !== "ENOENT" && code !== "ENOTDIR";
  }
}
