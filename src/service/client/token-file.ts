// The secret of a service that listens on TCP, in a file that only its account can read.

import { lstatSync, readFileSync } from "node:fs";
import path from "node:path";
import { UserError } from "../../errors.js";

export function tokenFileIn(stateDir: string): string {
  return path.join(stateDir, "token");
}

/** 32 random bytes, as base64url. */
export function isToken(text: string): boolean {
  return /^[\w-]{43}$/.test(text);
}

/** Throws UserError if other accounts can read it. */
export function loadTokenFile(file: string): string {
  const found = lstatSync(file, { throwIfNoEntry: false });
  if (found === undefined)
    throw new UserError(`${file}: there is no such file, and the token should be in it`, {
      hint: `copy it from the computer of the service: sshoal serve status prints where it is`,
    });
  if (!found.isFile() || found.uid !== process.geteuid?.())
    throw new UserError(`${file}: not used, because it is not a file of this account`, {
      hint: `look at it: ls -l ${file}`,
    });
  if ((found.mode & 0o077) !== 0)
    throw new UserError(`${file}: other accounts can read the token in it`, { hint: `chmod 600 ${file}` });
  const token = readFileSync(file, "utf8").trim();
  if (isToken(token)) return token;
  throw new UserError(`${file}: has no token: one has 43 letters, digits, - and _`, {
    hint: "copy the file `token` of the service again",
  });
}
