// A machine as OpenSSH would connect to it: its address with all settings of the ssh configuration.

import { quoteIfNeeded } from "../quote.js";

export interface SshTarget {
  /** As typed: an alias of the configuration, a host name or an address. */
  readonly alias: string;
  /** Where to connect to. */
  readonly host: string;
  readonly port: number;
  readonly username: string;
  /** Its name in known_hosts files, if that is not its host name. */
  readonly hostKeyAlias: string | null;
  /** Absolute paths, in the order in which they are offered; includes files that do not exist. */
  readonly identityFiles: readonly string[];
  /** A person chose the files, in a machine file or in the configuration. */
  readonly hasOwnIdentities: boolean;
  /** Only those keys of the agent are used that belong to identity files. */
  readonly identitiesOnly: boolean;
  /** Null: no agent. */
  readonly agentSocket: string | null;
  /** Jump hosts, nearest first, as written (`user@host:port`); the last is next to the machine. */
  readonly proxyJump: readonly string[];
  readonly proxyCommand: string | null;
  /** New keys are written to the first file. */
  readonly userKnownHosts: readonly string[];
  readonly globalKnownHosts: readonly string[];
  /** Names of new hosts are written as hashes. */
  readonly hashesKnownHosts: boolean;
  readonly hostKeys: HostKeyPolicy;
  readonly addressFamily: 0 | 4 | 6;
  readonly connectTimeoutMs: number;
  readonly keepaliveMs: number;
  /** After this many unanswered keepalives in a row, the connection counts as lost. */
  readonly keepaliveCount: number;
  /** The file named by -F, absolute; null: the user's own, then the system's. */
  readonly configFile: string | null;
  /** What ssh2 cannot do for this configuration: "it has a ProxyCommand". */
  readonly needsOpenssh: readonly string[];
}

/** `strict`: only hosts that are already known. Both refuse a key that changed. */
export type HostKeyPolicy = "strict" | "accept-new";

/** `host:port`, with the alias that people use, and the jump hosts. */
export function describeTarget({ alias, host, port, proxyJump }: SshTarget): string {
  const at = host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
  const name = alias === host ? at : `${alias} (${at})`;
  return proxyJump.length === 0 ? name : `${name} via ${proxyJump.join(", ")}`;
}

/** The command with which people can try the connection themselves. */
export function sshCommand(target: SshTarget): string {
  const { alias, port, username, configFile, identityFiles, hasOwnIdentities } = target;
  const words = ["ssh"];
  if (configFile !== null) words.push("-F", configFile);
  if (port !== 22) words.push("-p", String(port));
  if (hasOwnIdentities) words.push(...identityFiles.flatMap((file) => ["-i", file]));
  return [...words, `${username}@${alias}`].map(quoteIfNeeded).join(" ");
}
