// Where configuration files are: the user's own, and the one of the project around the working directory.

import { lstatSync, realpathSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";

/** A project takes precedence over the user. */
export type ConfigLevel = "user" | "project";

export interface ConfigPlace {
  readonly level: ConfigLevel;
  /** Absolute. Without a file: where one would be. */
  readonly path: string;
  readonly isThere: boolean;
}

export interface ConfigSurroundings {
  /** Null: it was removed. */
  readonly cwd: string | null;
  readonly homeDir: string;
  /** XDG_CONFIG_HOME, if it is set. */
  readonly configHome: string | undefined;
  /** Of this process; null: the system has none. */
  readonly uid: number | null;
}

const PROJECT_FILE = ".sshoal.yaml";

/** That of the user, and that of the project. */
export function findConfig({ cwd, homeDir, configHome }: ConfigSurroundings): ConfigPlace[] {
  const base = configHome !== undefined && isAbsolute(configHome) ? configHome : join(homeDir, ".config");
  const path = join(base, "sshoal", "config.yaml");
  // An empty HOME makes it relative: that would be a file of the working directory.
  const found = isAbsolute(path) ? findSpelling(path) : null;
  const user = { level: "user", path: found ?? path, isThere: found !== null } as const;
  return cwd === null ? [user] : [user, findProject(cwd, homeDir)];
}

/** In the working directory, or in the nearest directory above it, up to the home directory. */
function findProject(cwd: string, homeDir: string): ConfigPlace {
  const home = realPath(homeDir);
  for (let directory = cwd; ; directory = dirname(directory)) {
    const path = findSpelling(join(directory, PROJECT_FILE));
    if (path !== null) return { level: "project", path, isThere: true };
    if (directory === home || directory === dirname(directory)) break;
  }
  return { level: "project", path: join(cwd, PROJECT_FILE), isThere: false };
}

/** A file with the ending .yml counts, too: it is refused, which is better than to skip its settings silently. */
function findSpelling(path: string): string | null {
  return [path, path.replace(/yaml$/, "yml")].find(isThere) ?? null;
}

/** A link counts, wherever it leads. What is in a directory that is closed to us does not. */
function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
