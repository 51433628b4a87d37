// The facts about the process that a use case needs, and the machines that were named.

import type { MachineContext } from "../input/machine/find-machine.js";
import { loadMachines } from "../input/machine/load-machines.js";
import { localMachine } from "../input/machine/plain-machine.js";
import type { MachineSpec } from "../model/machine.js";
import type { KnowsHost } from "../transport/config/knows-host.js";

export interface Surroundings {
  /** Of this client. */
  readonly pid: number;
  readonly cwd: string;
  readonly homeDir: string;
  /** The directory for caches; null: nothing is cached. */
  readonly cacheDir: string | null;
  /** What this user's commands know of each other; null: there is no place for it. */
  readonly stateDir: string | null;
  readonly username: string;
  /** The name of this computer. */
  readonly computer: string;
  /** Null: there is none. */
  readonly agentSocket: string | null;
  /** Possible directories for sockets, best first. */
  readonly socketDirs: readonly string[];
}

/** Machines as typed. */
export interface MachineChoice {
  readonly machines: readonly string[];
  /** The ssh configuration file; null: the user's own. */
  readonly configFile: string | null;
}

/** Without any name: this computer. */
export async function machinesFor(
  { machines, configFile }: MachineChoice,
  surroundings: Surroundings,
): Promise<MachineSpec[]> {
  if (machines.length === 0) return [localMachine()];
  return loadMachines(machines, machineContext(configFile, surroundings));
}

export function machineContext(configFile: string | null, { cwd, homeDir }: Surroundings): MachineContext {
  return { cwd, homeDir, configFile, knowsHost: askSsh(homeDir) };
}

/** Loaded only if needed. */
function askSsh(homeDir: string): KnowsHost {
  let knowsHost: Promise<KnowsHost> | null = null;
  return async (host, configFile) => {
    knowsHost ??= import("../transport/config/knows-host.js").then(({ createKnowsHost }) =>
      createKnowsHost(homeDir),
    );
    return (await knowsHost)(host, configFile);
  };
}
