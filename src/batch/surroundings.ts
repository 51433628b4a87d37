// What a use case knows of the process it runs in, and the machines that were named there.

import type { MachineContext } from "../input/machine/find-machine.js";
import { loadMachines } from "../input/machine/load-machines.js";
import { localMachine } from "../input/machine/plain-machine.js";
import type { MachineSpec } from "../model/machine.js";
import type { KnowsHost } from "../transport/config/knows-host.js";

export interface Surroundings {
  readonly cwd: string;
  readonly homeDir: string;
  /** What is kept there only saves time; null: nothing is kept. */
  readonly cacheDir: string | null;
  /** What this user's commands know of each other; null: there is no place for it. */
  readonly stateDir: string | null;
  readonly username: string;
  /** What this computer calls itself. */
  readonly computer: string;
  /** Null: there is none. */
  readonly agentSocket: string | null;
  /** Where sockets of our own may be, best first. */
  readonly socketDirs: readonly string[];
}

/** Machines as they were typed. */
export interface MachineChoice {
  readonly machines: readonly string[];
  /** Of the ssh configuration; null: the user's own. */
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

/** Loaded for those who have to ask. */
function askSsh(homeDir: string): KnowsHost {
  let knowsHost: Promise<KnowsHost> | null = null;
  return async (host, configFile) => {
    knowsHost ??= import("../transport/config/knows-host.js").then(({ createKnowsHost }) =>
      createKnowsHost(homeDir),
    );
    return (await knowsHost)(host, configFile);
  };
}
