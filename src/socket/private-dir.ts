// A directory for sockets that no other account can enter.

import { lstatSync, mkdirSync } from "node:fs";

/** Creates it, or checks the existing one. False: other accounts can enter it, or it cannot be created. */
export function isPrivateDir(dir: string): boolean {
  try {
    mkdirSync(dir, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") return false;
  }
  return isPrivate(dir);
}

/** It is there, and ours alone. */
export function isPrivate(dir: string): boolean {
  const found = lstatSync(dir, { throwIfNoEntry: false });
  return found?.isDirectory() === true && found.uid === process.geteuid?.() && (found.mode & 0o077) === 0;
}
