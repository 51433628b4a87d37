// The built program for the plain account, which may be unable to read root's clone.

import { execFileSync } from "node:child_process";
import { cpSync, existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { isRoot, readableCopy } from "./account.js";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const SQLITE = ["node_modules/@photostructure/sqlite", "node_modules/node-gyp-build"];
let copied: string | undefined;

/** An installation that the account can read, with the database that an older Node.js needs. */
export function installed(): string {
  if (copied !== undefined) return copied;
  const dist = readableCopy(join(ROOT, "dist"));
  if (isRoot) {
    for (const name of SQLITE)
      if (existsSync(join(ROOT, name))) cpSync(join(ROOT, name), join(dist, name), { recursive: true });
    execFileSync("chmod", ["-R", "a+rX", dist]);
  }
  copied = dist;
  return dist;
}
