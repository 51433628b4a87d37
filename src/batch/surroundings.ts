// What the process was started with, read here once and passed down.

import { hostname } from "node:os";
import { readAccount, readHomeDir } from "../account.js";
import { cacheDir } from "../cache-dir.js";
import type { MachineContext } from "../input/machine/find-machine.js";
import { loadMachines } from "../input/machine/load-machines.js";
import { localMachine } from "../input/machine/plain-machine.js";
import type { MachineSpec } from "../model/machine.js";
import type { Suspendable } from "../report/reporter.js";
import type { KnowsHost } from "../transport/config/knows-host.js";
import { createConnect } from "../transport/connect.js";
import type { Session } from "../transport/session.js";
import type { MachineChoice, SshOptions } from "../cli/options/ssh-options.js";
import { createPrompt } from "../cli/terminal/prompt.js";

export interface Surroundings {
  readonly cwd: string;
  readonly homeDir: string;
  /** What is kept there only saves time; null: nothing is kept. */
  readonly cacheDir: string | null;
  readonly username: string;
  /** What this computer calls itself. */
  readonly computer: string;
  /** Null: there is none. */
  readonly agentSocket: string | null;
}

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

/** All it takes is an address: of a machine file, or of a record. */
export type Connector = (machine: Pick<MachineSpec, "address">, signal: AbortSignal) => Promise<Session>;

/** One for a command. */
export function connector(
  surroundings: Surroundings,
  options: SshOptions,
  onNote: (message: string) => void,
): Connector {
  return openConnector(surroundings, options, onNote).connect;
}

/** Who hears what is to be told of a connection, and what on the terminal makes room for questions. */
interface Audience {
  onNote: (message: string) => void;
  view: Suspendable | null;
}

/** For a command that looks first and then follows a batch: the audience changes, what was typed is not asked again. */
export interface LastingConnector {
  readonly connect: Connector;
  readonly audience: Audience;
}

/** `mayAsk`: what is typed on the terminal is for nobody else. */
export function openConnector(
  { homeDir, agentSocket }: Surroundings,
  { hostKeys }: SshOptions,
  onNote: (message: string) => void,
  mayAsk = true,
): LastingConnector {
  const audience: Audience = { onNote, view: null };
  const view = { suspend: () => audience.view?.suspend(), resume: () => audience.view?.resume() };
  const { stdin, stderr } = process;
  const ask = mayAsk ? createPrompt({ stdin, stderr, view }) : null;
  const tell = (message: string) => audience.onNote(message);
  const connect = createConnect({ homeDir, agentSocket, hostKeys, ask, onNote: tell });
  return { audience, connect: (machine, signal) => connect(machine.address, signal) };
}
