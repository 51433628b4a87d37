// The directories of this computer in which this user has run batches: one small file for each, so that `status --all` finds
// them. Only that command needs them: what cannot be written or read here stops nothing else.

import { createHash } from "node:crypto";
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import { findDistrust } from "../../run/home/distrust-records.js";
import { Results } from "../../run/home/results.js";
import type { Surroundings } from "../surroundings.js";

/** The least recently used beyond these are forgotten until a command runs in them again. */
const MOST_DIRECTORIES = 1000;
const ENTRY = /^[0-9a-f]{32}$/;

type Place = Pick<Surroundings, "stateDir" | "computer">;

/** Makes `dir` known, or notes that it is in use. */
export function rememberDirectory(place: Place, dir: string): void {
  const entries = entriesDir(place);
  if (entries === null) return;
  const entry = path.join(entries, nameOf(dir));
  const now = new Date();
  try {
    utimesSync(entry, now, now);
  } catch {
    writeEntry(entries, entry, dir);
  }
}

/** The same for a directory of which it is not known whether this user ran batches there. */
export function rememberIfUsed(place: Place, dir: string): void {
  const results = new Results(dir);
  if (results.isThere() && findDistrust(results.privateDir) === null) rememberDirectory(place, dir);
}

/** The last used first. Those whose records are gone are forgotten. */
export function knownDirectories(place: Place): string[] {
  const entries = entriesDir(place);
  if (entries === null) return [];
  const byUse = listEntries(entries).sort((one, other) => other.usedAt - one.usedAt);
  for (const { file } of byUse.slice(MOST_DIRECTORIES)) forget(file);
  return byUse.slice(0, MOST_DIRECTORIES).flatMap(({ file }) => {
    const dir = readEntry(file);
    if (dir !== null && isThere(dir)) return [dir];
    forget(file);
    return [];
  });
}

/** Computers that share a home do not share their other disks. */
function entriesDir({ stateDir, computer }: Place): string | null {
  return stateDir === null ? null : path.join(stateDir, `directories@${computer.replaceAll("/", "_")}`);
}

function nameOf(dir: string): string {
  return createHash("sha256").update(dir).digest("hex").slice(0, 32);
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

/** Where it cannot be removed, it is passed over again the next time. */
function forget(file: string): void {
  try {
    rmSync(file, { force: true });
  } catch {
    // A home that is read-only.
  }
}

/** Null: it is not what we wrote. */
function readEntry(file: string): string | null {
  try {
    const dir = readFileSync(file, "utf8");
    return path.isAbsolute(dir) && nameOf(dir) === path.basename(file) ? dir : null;
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
