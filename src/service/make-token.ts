// Makes the token of a service that listens on TCP, at its first use.

import { randomBytes } from "node:crypto";
import { closeSync, fsyncSync, lstatSync, openSync, renameSync, writeSync } from "node:fs";
import { loadTokenFile, tokenFileIn } from "./client/token-file.js";

/** Only the service that holds the lock of the directory may call it. Throws UserError if other accounts can read the file. */
export function loadOrMakeToken(stateDir: string): string {
  const file = tokenFileIn(stateDir);
  if (lstatSync(file, { throwIfNoEntry: false }) === undefined) makeToken(file);
  return loadTokenFile(file);
}

function makeToken(file: string): void {
  const draft = `${file}.${process.pid}.${randomBytes(4).toString("hex")}`;
  const made = openSync(draft, "wx", 0o600);
  writeSync(made, `${randomBytes(32).toString("base64url")}\n`);
  fsyncSync(made);
  closeSync(made);
  renameSync(draft, file);
}
