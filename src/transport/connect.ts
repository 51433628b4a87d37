// The one way to a Session, whichever transport the address asks for.

import type { Address } from "../model/machine.js";
import type { Ask } from "./ask.js";
import type { ConnectSsh } from "./connect-ssh.js";
import { connectLocal } from "./local.js";
import type { Session } from "./session.js";
import type { SshConfig } from "./ssh-config.js";
import type { HostKeyPolicy } from "./target.js";

export interface ConnectOptions {
  /** Where .ssh is, and where scripts start on this computer. */
  readonly homeDir: string;
  /** SSH_AUTH_SOCK; null: there is no agent. */
  readonly agentSocket: string | null;
  /** Host keys seen for the first time, and the like, are told here. */
  readonly onNote: (message: string) => void;
  /** Null: as the ssh configuration says. */
  readonly hostKeys: HostKeyPolicy | null;
  /** Null: nobody can be asked. */
  readonly ask: Ask | null;
}

/** Rejects with a ConnectError, or with the signal's reason. Whoever calls it closes the session. */
export type Connect = (address: Address, signal?: AbortSignal) => Promise<Session>;

/** One for a command: its sessions share jump hosts, unlocked keys and turns at connecting. */
export function createConnect(options: ConnectOptions): Connect {
  let config: Promise<SshConfig> | null = null;
  let ssh: Promise<ConnectSsh> | null = null;
  return async (address, signal) => {
    signal?.throwIfAborted();
    if (address.kind === "local") return connectLocal({ homeDir: options.homeDir });
    config ??= loadConfig(options);
    ssh ??= config.then((known) => loadSsh(options, known));
    // Processes of their own work it out, while the rest of our code is being loaded.
    (await config).resolve(address, null, signal).catch(() => {}); // asked again below, and heard then
    return (await ssh)(address, signal);
  };
}

/** Loaded for those who need it: without --machines there is no ssh at all. */
async function loadConfig(options: ConnectOptions): Promise<SshConfig> {
  const { createSshConfig } = await import("./ssh-config.js");
  return createSshConfig(options);
}

async function loadSsh(options: ConnectOptions, config: SshConfig): Promise<ConnectSsh> {
  const { createConnectSsh } = await import("./connect-ssh.js");
  return createConnectSsh(options, config);
}
