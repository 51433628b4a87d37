// The only way to a Session, with any transport.

import type { Address } from "../model/machine.js";
import type { SshConfig } from "./config/ssh-config.js";
import { ConnectError } from "./connect-error.js";
import type { ConnectOptions } from "./connect-options.js";
import type { ConnectSsh } from "./connect-ssh.js";
import { connectLocal } from "./local.js";
import type { Session } from "./session.js";

/** Rejects with a ConnectError, or with the signal's reason. The caller closes the session. */
export type Connect = (address: Address, signal?: AbortSignal) => Promise<Session>;

/** One per command: its sessions share jump hosts, unlocked keys and turns at connecting. */
export function createConnect(options: ConnectOptions): Connect {
  let config: Promise<SshConfig> | null = null;
  let ssh: Promise<ConnectSsh> | null = null;
  return async (address, signal) => {
    signal?.throwIfAborted();
    if (address.kind === "local") return connectLocal({ homeDir: options.homeDir });
    if (address.kind === "joined") return (options.connectJoined ?? refuseJoined)(address.name, signal);
    config ??= loadConfig(options);
    ssh ??= config.then((known) => loadSsh(options, known));
    // ssh processes read the configuration while the rest of our code is being loaded.
    (await config).resolve(address, null, signal).catch(() => {}); // awaited again below, which reports errors
    return (await ssh)(address, signal);
  };
}

async function refuseJoined(name: string): Promise<never> {
  throw new ConnectError("config", `${name}: only the queue service reaches a machine that has joined it`, {
    hint: "sshoal show, which asks the service",
  });
}

/** Loaded only if needed: without --machines no ssh is used. */
async function loadConfig(options: ConnectOptions): Promise<SshConfig> {
  const { createSshConfig } = await import("./config/ssh-config.js");
  return createSshConfig(options);
}

async function loadSsh(options: ConnectOptions, config: SshConfig): Promise<ConnectSsh> {
  const { createConnectSsh } = await import("./connect-ssh.js");
  return createConnectSsh(options, config);
}
