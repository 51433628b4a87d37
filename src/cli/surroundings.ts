// What the process was started with, read here once and passed down.

import { homedir, hostname, userInfo } from "node:os";
import { loadMachines, localMachine } from "../input/load.js";
import type { MachineSpec } from "../model/machine.js";
import { connect } from "../transport/connect.js";
import type { Session } from "../transport/session.js";

export interface Surroundings {
  readonly cwd: string;
  readonly homeDir: string;
  readonly username: string;
  /** What this computer calls itself. */
  readonly computer: string;
}

export function readSurroundings(): Surroundings {
  return { cwd: process.cwd(), homeDir: homedir(), username: userInfo().username, computer: hostname() };
}

export async function machinesFor(
  names: readonly string[],
  surroundings: Surroundings,
): Promise<MachineSpec[]> {
  return names.length === 0 ? [localMachine()] : loadMachines(names, surroundings);
}

/** All it takes is an address: of a machine file, or of a record. */
export type Connector = (machine: Pick<MachineSpec, "address">, signal: AbortSignal) => Promise<Session>;

export function connector({ homeDir }: Surroundings, onNote: (message: string) => void): Connector {
  return (machine, signal) => connect(machine.address, { homeDir, signal, onNote });
}
