// The command lines of the system's ssh (pure): of the process that holds the connection, and of those that use it.

import type { SshTarget } from "../config/target.js";
import { quote } from "../quote.js";

/** A connection that a separate process holds; other processes use it through `controlPath`. */
export interface Held {
  readonly controlPath: string;
  /** Shown in process lists; the connection is the one at `controlPath`. */
  readonly destination: string;
}

/**
 * Overrides the configuration: no forwarding, no session of its own, and no questions except for the login. The machine
 * is named as the user names it, so that the whole configuration applies.
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
  /** `-F file` if needed. */
  readonly configWords: readonly string[];
  /** True if a person can answer questions. */
  readonly canAsk: boolean;
  readonly jump: Held | null;
}

/** With -v, because only then ssh prints how it logged in, or why not. */
export function holderWords(target: SshTarget, options: HolderOptions): string[] {
  const { held, configWords, canAsk, jump } = options;
  const settings = [
    ...ALWAYS,
    ...settingsOf(target),
    ...(canAsk ? [] : ["BatchMode=yes", "KbdInteractiveAuthentication=no"]),
    ...(jump === null ? [] : [`ProxyCommand=${throughJump(jump)}`]),
  ];
  const master = ["-v", "-M", "-N", "-T", "-S", literal(held.controlPath)];
  // Without any file, OpenSSH would look for keys in the account's home and ignore HOME.
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
    // Its path is passed in the environment, where no character is special.
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

/** For ssh, % begins a token. */
function literal(path: string): string {
  return path.replaceAll("%", "%%");
}

/**
 * For a further user of a held connection. It reads no configuration, because Match may run programs, once per script.
 * If the connection is gone or the machine allows no more sessions, ssh would connect by itself; the ProxyCommand
 * prevents that.
 */
export function userWords({ controlPath }: Held): string[] {
  return ["-F", "none", "-S", literal(controlPath), "-T", "-o", "ProxyCommand=false"];
}

function throughJump(jump: Held): string {
  const words = [...userWords(jump), "-W"].map((word) => literal(quote(word)));
  // ssh itself puts an exec before it.
  return `ssh ${words.join(" ")} '[%h]:%p' -- ${literal(quote(jump.destination))}`;
}
