// Reads the facts about the process once; they are passed down.

import { hostname, tmpdir } from "node:os";
import path from "node:path";
import { readAccount, readHomeDir } from "../account.js";
import type { Surroundings } from "../batch/surroundings.js";
import { cacheDir, isOwnOrMissing } from "../cache-dir.js";

export function readSurroundings(): Surroundings {
  return {
    pid: process.pid,
    cwd: process.cwd(),
    homeDir: readHomeDir(),
    cacheDir: cacheDir(),
    stateDir: stateDir(),
    username: readAccount().username,
    computer: hostname(),
    agentSocket: process.env.SSH_AUTH_SOCK || null,
    socketDirs: socketDirs(),
  };
}

/** Null: another account could change what is there. */
export function stateDir(): string | null {
  const asked = process.env.XDG_STATE_HOME ?? "";
  const above = path.isAbsolute(asked) ? asked : path.join(readHomeDir(), ".local", "state");
  const dir = path.join(above, "sshoal");
  return isOwnOrMissing(dir) ? dir : null;
}

/** A long path does not fit into a socket's address: the next one may. */
function socketDirs(): string[] {
  const runtimeDir = process.env.XDG_RUNTIME_DIR;
  const own = runtimeDir ? [path.join(runtimeDir, "sshoal")] : [];
  const all = [
    ...own,
    ...[tmpdir(), "/tmp"].map((dir) => path.join(dir, `sshoal-${process.geteuid?.() ?? 0}`)),
  ];
  // Other clients may have another working directory.
  return all.filter((dir) => path.isAbsolute(dir));
}
