// Reads the configuration files, if there are any. Their mistakes are reported once a command needs them.

import { readHomeDir } from "../../../account.js";
import type { ConfigFile } from "../../../input/config/config-file.js";
import { type ConfigPlace, type ConfigSurroundings, findConfig } from "../../../input/config/find-config.js";

export interface LoadedConfig {
  /** Where files were looked for. */
  readonly places: readonly ConfigPlace[];
  /** The user's before the project's. */
  readonly files: readonly ConfigFile[];
  readonly surroundings: ConfigSurroundings;
}

export const NO_CONFIG: LoadedConfig = {
  places: [],
  files: [],
  surroundings: { cwd: null, homeDir: "/", configHome: undefined, uid: null },
};

export async function loadConfig(surroundings = readConfigSurroundings()): Promise<LoadedConfig> {
  const places = findConfig(surroundings);
  const there = places.filter(({ isThere }) => isThere);
  if (there.length === 0) return { places, files: [], surroundings };
  // The YAML parser is loaded for a file only: most commands start without one.
  const { loadConfigFile } = await import("../../../input/config/config-file.js");
  return { places, files: there.map((place) => loadConfigFile(place, surroundings.uid)), surroundings };
}

function readConfigSurroundings(): ConfigSurroundings {
  return {
    cwd: currentDirectory(),
    homeDir: readHomeDir(),
    configHome: process.env.XDG_CONFIG_HOME,
    uid: process.geteuid?.() ?? null,
  };
}

/** Null: it was removed. */
function currentDirectory(): string | null {
  try {
    return process.cwd();
  } catch {
    return null;
  }
}
