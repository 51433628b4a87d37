// Which queue service a command asks: that of this computer, or one that --server names.

import type { Command } from "commander";
import { describeSsh, type RawSsh, resolveSsh, type SshOptions } from "../ssh-options.js";

/** As typed, and as a configuration file says. Null: not given. */
export interface AskedServer extends SshOptions {
  readonly typed: string | null;
  readonly byDefault: string | null;
  /** As typed. */
  readonly tokenFile: string | null;
}

/** Options of a command that asks a service. */
export interface WithServer {
  readonly server: AskedServer;
}

export interface RawServer extends RawSsh {
  readonly server?: string;
  /** Of a configuration file. */
  readonly serverByDefault?: string;
  readonly tokenFile?: string;
}

export function describeServer(command: Command): Command {
  command
    .option(
      "--server <server>",
      "ask the queue service of user@host, through ssh, or that at tcp://host:port",
    )
    .option("--token-file <file>", "read the token for tcp://host:port from this file");
  const hasPolicy = command.options.some(({ long }) => long === "--host-keys");
  return hasPolicy ? command : describeSsh(command);
}

export function askedServer(raw: RawServer): AskedServer {
  const { server = null, serverByDefault = null, tokenFile = null } = raw;
  return { ...resolveSsh(raw), typed: server, byDefault: serverByDefault, tokenFile };
}
