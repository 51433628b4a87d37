// A machine as OpenSSH would connect to it: the address, with everything that the ssh configuration says of it settled.

import { quoteIfNeeded } from "../quote.js";

export interface SshTarget {
  /** As typed: an alias of the configuration, a host name or an address. */
  readonly alias: string;
  /** Where to connect to. */
  readonly host: string;
  readonly port: number;
  readonly username: string;
  /** What known_hosts files have it under instead of its host name. */
  readonly hostKeyAlias: string | null;
  /** Absolute, in the order to offer them; those that do not exist are among them. */
  readonly identityFiles: readonly string[];
  /** The files were chosen by a person: a machine file, or the configuration. */
  readonly hasOwnIdentities: boolean;
  /** Of the agent's keys, only those of the identity files. */
  readonly identitiesOnly: boolean;
  /** Null: no agent. */
  readonly agentSocket: string | null;
  /** Hops on the way there, nearest first, as written (`user@host:port`); the last is the one next to the machine. */
  readonly proxyJump: readonly string[];
  readonly proxyCommand: string | null;
  /** New keys are written to the first. */
  readonly userKnownHosts: readonly string[];
  readonly globalKnownHosts: readonly string[];
  /** Names of new hosts are written hashed. */
  readonly hashesKnownHosts: boolean;
  readonly hostKeys: HostKeyPolicy;
  readonly addressFamily: 0 | 4 | 6;
  readonly connectTimeoutMs: number;
  readonly keepaliveMs: number;
  /** So many unanswered keepalives in a row: the link is lost. */
  readonly keepaliveCount: number;
  /** Named by -F, absolute; null: the user's own, then the system's. */
  readonly configFile: string | null;
  /** What of the configuration ssh2 cannot do: "it has a ProxyCommand". */
  readonly needsOpenssh: readonly string[];
}

/** `strict`: only hosts that are known already. A key that changed is refused by both. */
export type HostKeyPolicy = "strict" | "accept-new";

/** `host:port`, with the alias people know it by, and the way there. */
export function describeTarget({ alias, host, port, proxyJump }: SshTarget): string {
  const at = host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
  const name = alias === host ? at : `${alias} (${at})`;
  return proxyJump.length === 0 ? name : `${name} by way of ${proxyJump.join(", ")}`;
}

/** The line with which people see for themselves. */
export function sshCommand(target: SshTarget): string {
  const { alias, port, username, configFile, identityFiles, hasOwnIdentities } = target;
  const words = ["ssh"];
  if (configFile !== null) words.push("-F", configFile);
  if (port !== 22) words.push("-p", String(port));
  if (hasOwnIdentities) words.push(...identityFiles.flatMap((file) => ["-i", file]));
  return [...words, `${username}@${alias}`].map(quoteIfNeeded).join(" ");
}
