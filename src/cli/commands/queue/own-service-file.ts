// Where the queue service of this account on this computer is described.

import { hostname } from "node:os";
import path from "node:path";
import { stateDir } from "../../read-surroundings.js";

/** By which commands find the service. Null: there is no safe place for it. */
export function serviceFile(): string | null {
  const dir = stateDir();
  // Several computers can share a home.
  return dir && path.join(dir, `service@${hostname().replace(/[^\w.-]/g, "_")}.json`);
}
