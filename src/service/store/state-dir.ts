// The directory of the service and the files of its record: this user's alone, and on a disk of this computer.

import { chmodSync, closeSync, lstatSync, openSync, readFileSync, realpathSync, statfsSync } from "node:fs";
import path from "node:path";
import { UserError } from "../../errors.js";
import { makeDirs } from "../../run/home/make-dirs.js";
import { networkDiskAt } from "./network-disk.js";

const ELSEWHERE = "sshoal serve --state DIR";

export function makeStateDir(dir: string): void {
  makeOwnDir(dir);
  const { uid, mode } = lstatSync(realpathSync(dir));
  if (uid !== process.geteuid?.())
    throw new UserError(`${dir} belongs to another account`, {
      hint: `choose your own directory: ${ELSEWHERE}`,
    });
  if ((mode & 0o077) !== 0)
    throw new UserError(`${dir} can be entered by other accounts`, {
      hint: `chmod 700 ${dir}, or choose another directory: ${ELSEWHERE}`,
    });
  const disk = findNetworkDisk(dir);
  if (disk !== null)
    throw new UserError(`${dir} is on a network file system (${disk}), where SQLite can lose jobs`, {
      hint: `choose a directory on a disk of this computer: ${ELSEWHERE}`,
    });
}

/** Throws UserError if it cannot be made. */
export function makeOwnDir(dir: string): void {
  try {
    makeDirs(dir, 0o700);
  } catch (cause) {
    throw new UserError(`${dir} cannot be created: ${(cause as Error).message}`, {
      hint: `choose another directory: ${ELSEWHERE}`,
      cause,
    });
  }
}

function findNetworkDisk(dir: string): string | null {
  // Other systems number their file systems differently.
  if (process.platform !== "linux") return null;
  const mountInfo = () => readFileSync("/proc/self/mountinfo", "utf8");
  return networkDiskAt(realpathSync(dir), statfsSync(dir).type, orEmpty(mountInfo));
}

function orEmpty(read: () => string): string {
  try {
    return read();
  } catch {
    return "";
  }
}

/** SQLite gives its journals the mode of the database, so that is created first. */
export function makePrivateFile(dir: string, name: string): string {
  const file = path.join(dir, name);
  const found = lstatSync(file, { throwIfNoEntry: false });
  if (found === undefined) closeSync(openSync(file, "wx", 0o600));
  else if (!found.isFile() || found.uid !== process.geteuid?.())
    throw new UserError(`${file} is not a file of this account`, {
      hint: `move it away, or choose another directory: ${ELSEWHERE}`,
    });
  else if ((found.mode & 0o077) !== 0) chmodSync(file, 0o600);
  return file;
}
