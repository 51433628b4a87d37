// The command lines of the system's ssh (pure): the one process that holds the connection, and those that use it.

import type { SshTarget } from "../config/target.js";
import { quote } from "../quote.js";

/** A connection that is held by a process of its own; others ask for their share of it at `controlPath`. */
export interface Held {
  readonly controlPath: string;
  /** For people who look at processes; the connection is the one at `controlPath`. */
  readonly destination: string;
}

/**
 * Whatever the configuration says: no forwarding, no session of its own and no question but for what it takes to log
 * in. The machine is named as people name it, so that all of the configuration applies.
 */
const ALWAYS = [
  "ControlPersist=no",
  "ClearAllForwardings=yes",
  "ForwardAgent=no",
  "ForwardX11=no",
  "Tunnel=no",
  "PermitLocalCommand=no",
  "RemoteCommand=none",
  "UpdateHostKeys=no",
  "PasswordAuthentication=no",
];

export interface HolderOptions {
  readonly held: Held;
  /** `-F file`, where that is needed. */
  readonly configWords: readonly string[];
  /** A person is there to answer questions. */
  readonly canAsk: boolean;
  readonly jump: Held | null;
}

/** -v, because only then it prints how it got in, or why not. */
export function holderWords(target: SshTarget, options: HolderOptions): string[] {
  const { held, configWords, canAsk, jump } = options;
  const settings = [
    ...ALWAYS,
    ...settingsOf(target),
    ...(canAsk ? [] : ["BatchMode=yes", "KbdInteractiveAuthentication=no"]),
    ...(jump === null ? [] : [`ProxyCommand=${throughJump(jump)}`]),
  ];
  const master = ["-v", "-M", "-N", "-T", "-S", literal(held.controlPath)];
  // Without any file OpenSSH would look for some in the account's home, whatever HOME says.
  const keys = [...target.identityFiles.flatMap((file) => ["-i", literal(file)]), "-o", "IdentityFile=none"];
  const destination = ["-l", target.username, "-p", String(target.port), "--", target.alias];
  return [
    ...master,
    ...configWords,
    ...settings.flatMap((setting) => ["-o", setting]),
    ...keys,
    ...destination,
  ];
}

function settingsOf(target: SshTarget): string[] {
  return [
    `StrictHostKeyChecking=${target.hostKeys === "strict" ? "yes" : "accept-new"}`,
    `ConnectTimeout=${seconds(target.connectTimeoutMs)}`,
    `ServerAliveInterval=${seconds(target.keepaliveMs)}`,
    `ServerAliveCountMax=${target.keepaliveCount}`,
    // Its path is in the environment, where no character of it means anything.
    `IdentityAgent=${target.agentSocket === null ? "none" : "SSH_AUTH_SOCK"}`,
    ...(target.identitiesOnly ? ["IdentitiesOnly=yes"] : []),
    ...files("UserKnownHostsFile", target.userKnownHosts),
    ...files("GlobalKnownHostsFile", target.globalKnownHosts),
  ];
}

function files(keyword: string, paths: readonly string[]): string[] {
  if (paths.length === 0) return [`${keyword}=/dev/null`];
  return [`${keyword}=${paths.map((path) => `"${literal(path)}"`).join(" ")}`];
}

function seconds(ms: number): number {
  return Math.max(1, Math.ceil(ms / 1000));
}

/** To ssh, % begins what it fills in itself. */
function literal(path: string): string {
  return path.replaceAll("%", "%%");
}

/**
 * One more user of a held connection. Reads no configuration: Match may run programs, and it would for each script.
 * When the connection is gone, or the machine allows no more sessions, ssh would make a connection of its own: the
 * ProxyCommand keeps it from that.
 */
export function userWords({ controlPath }: Held): string[] {
  return ["-F", "none", "-S", literal(controlPath), "-T", "-o", "ProxyCommand=false"];
}

function throughJump(jump: Held): string {
  const words = [...userWords(jump), "-W"].map((word) => literal(quote(word)));
  // ssh itself puts an exec before it.
  return `ssh ${words.join(" ")} '[%h]:%p' -- ${literal(quote(jump.destination))}`;
}
