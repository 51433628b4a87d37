// Explains why a machine's key is not trusted, and what to type next.

import { describeTarget, type SshTarget } from "../config/target.js";
import { ConnectError } from "../connect-error.js";
import { quote, quoteIfNeeded } from "../quote.js";
import { describeKey, type KnownKey } from "./known-hosts.js";

export function changedKey(target: SshTarget, key: Buffer, by: KnownKey, entry: string): ConnectError {
  const former = describeKey(Buffer.from(by.key, "base64"));
  const message = `its host key is now ${describeKey(key)}, not the ${former} in ${by.file}:${by.line}`;
  const forget = `ssh-keygen -R ${quote(entry)} -f ${quoteIfNeeded(by.file)}`;
  const asRoot = target.globalKnownHosts.includes(by.file) ? "sudo " : "";
  return refuse(target, message, `if the machine was reinstalled: ${asRoot}${forget}`);
}

export function revokedKey(target: SshTarget, key: Buffer, by: KnownKey): ConnectError {
  const message = `its host key ${describeKey(key)} is revoked by ${by.file}:${by.line}`;
  return refuse(target, message, "ask the machine's administrator; do not connect");
}

export function unknownHost(target: SshTarget, key: Buffer): ConnectError {
  const message = `is not in known_hosts, and only known hosts are accepted; its key is ${describeKey(key)}`;
  return refuse(target, message, `if that is its key: ${acceptOnce(target)}; or --host-keys accept-new`);
}

/** Uses ssh itself, because ssh-keyscan does not support jump hosts and aliases. */
export function acceptOnce({ alias, port, username, configFile }: SshTarget): string {
  const words: string[] = [];
  if (configFile !== null) words.push("-F", configFile);
  if (port !== 22) words.push("-p", String(port));
  const rest = [...words, `${username}@${alias}`, "true"].map(quoteIfNeeded).join(" ");
  return `ssh -o StrictHostKeyChecking=accept-new ${rest}`;
}

function refuse(target: SshTarget, message: string, hint: string): ConnectError {
  return new ConnectError("host-key", `${describeTarget(target)}: ${message}`, { hint });
}
