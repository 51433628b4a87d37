// What the process was started with, read here once and passed down.

import { hostname } from "node:os";
import { readAccount, readHomeDir } from "../account.js";
import type { Surroundings } from "../batch/surroundings.js";
import { cacheDir } from "../cache-dir.js";

export function readSurroundings(): Surroundings {
  return {
    cwd: process.cwd(),
    homeDir: readHomeDir(),
    cacheDir: cacheDir(),
    username: readAccount().username,
    computer: hostname(),
    agentSocket: process.env.SSH_AUTH_SOCK || null,
  };
}
