// Whether records may be read. A record names machines and how they are reached, so that of another account could run commands as
// this user.

import { randomBytes } from "node:crypto";
import { closeSync, fstatSync, openSync, rmSync, type Stats, statSync } from "node:fs";
import path from "node:path";
import { isOfAnother, isWritableByOthers } from "../../account.js";

/** Why the records in this directory are not read; null: they are this user's, or there are none. */
export function findDistrust(dir: string): string | null {
  const uid = process.geteuid?.();
  const found = statSync(dir, { throwIfNoEntry: false });
  if (uid === undefined || found === undefined) return null;
  if (isOfAnother(found, uid) && !makesUsOwner(dir, found)) return "it belongs to another account";
  return isWritableByOthers(found) ? "other accounts can write it" : null;
}

/** Some network disks show one account as another one: files that this process makes have the same owner then. */
function makesUsOwner(dir: string, { uid }: Stats): boolean {
  const file = path.join(dir, `owner.${randomBytes(6).toString("hex")}`);
  try {
    const fd = openSync(file, "wx", 0o600);
    try {
      return fstatSync(fd).uid === uid;
    } finally {
      closeSync(fd);
      rmSync(file, { force: true });
    }
  } catch {
    return false;
  }
}
