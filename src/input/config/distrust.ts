// Whether a configuration file is safe to read: what it sets can run commands as this user.

import { lstatSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { isOfAnother, isWritableByOthers } from "../../account.js";
import { quoteIfNeeded } from "../../transport/quote.js";
import type { ConfigLevel, ConfigPlace } from "./find-config.js";

export interface Distrust {
  readonly message: string;
  readonly hint: string;
}

const STICKY = 0o1000;

/** Null: the file and its directory are this user's or root's, and no other account can write them. Throws when it is not there. */
export function findDistrust({ path, level }: ConfigPlace, uid: number | null): Distrust | null {
  if (uid === null) return null;
  const directory = dirname(path);
  // Both the link and the file that it leads to.
  for (const found of [lstatSync(path), statSync(path)]) {
    if (isOfAnother(found, uid)) return belongsToAnother("it", level);
  }
  const [file, above] = [statSync(path), statSync(directory)];
  if (isOfAnother(above, uid)) return belongsToAnother(`its directory ${directory}`, level);
  if (isWritableByOthers(file)) return othersWrite("it", path);
  // In a sticky directory, such as /tmp, other accounts cannot replace the file.
  if (isWritableByOthers(above) && (above.mode & STICKY) === 0)
    return othersWrite(`its directory ${directory}`, directory);
  return null;
}

function belongsToAnother(what: string, level: ConfigLevel): Distrust {
  const nearer = ", or put a .sshoal.yaml of your own into a nearer directory";
  return {
    message: `${what} belongs to another account, which could make sshoal run commands as you`,
    hint: `chown it to you${level === "project" ? nearer : ""}`,
  };
}

function othersWrite(what: string, path: string): Distrust {
  return {
    message: `other accounts can write ${what}, and could make sshoal run commands as you`,
    hint: `chmod go-w ${quoteIfNeeded(path)}`,
  };
}
