// Logs in with keys, as OpenSSH does. Never with a password: questions that need a person are left to the system's ssh.

import { readFile } from "node:fs/promises";
import { describeTarget, type SshTarget } from "../config/target.js";
import { ConnectError } from "../connect-error.js";
import { loadAgentKeys } from "./agent.js";
import type { Ask } from "./ask-person.js";
import { loadKeyFile, publicHalfOf } from "./key-file.js";
import { KeyLogin, type Login } from "./key-login.js";
import { orderKeys } from "./key-offers.js";
import type { KeyRing } from "./key-ring.js";
import { describeUnusable, hintForUnusable } from "./login-words.js";

export interface LoginOptions {
  /** Null: there is no person to type a passphrase. */
  readonly ask: Ask | null;
  readonly keys: KeyRing;
}

/** Throws a ConnectError if none of the keys that a person chose for the machine can be used. */
export async function loadLogin(target: SshTarget, { ask, keys }: LoginOptions): Promise<Login> {
  const { files, agentKeys } = await loadKeys(target);
  const { identitiesOnly, hasOwnIdentities, agentSocket } = target;
  const found = orderKeys(files, agentKeys, { identitiesOnly, canAsk: ask !== null });
  const unusable = found.unusable.filter((file) => hasOwnIdentities || file.kind !== "missing");
  const [first] = unusable;
  if (found.offers.length === 0 && hasOwnIdentities && first !== undefined) {
    const says = unusable.map((file) => describeUnusable(file, agentSocket)).join(", and ");
    throw new ConnectError("key-file", `${describeTarget(target)}: ${says}`, {
      hint: hintForUnusable(first, agentSocket),
    });
  }
  return new KeyLogin(target, { ...found, unusable, ask, keys });
}

/** Why ssh2 could not log in as OpenSSH would, in words. */
export async function loginNeedsOpenssh(
  target: SshTarget,
  { ask }: Pick<LoginOptions, "ask">,
): Promise<string[]> {
  const { identityFiles, identitiesOnly } = target;
  const [{ files, agentKeys }, certified] = await Promise.all([
    loadKeys(target),
    Promise.all(identityFiles.map(hasCertificate)),
  ]);
  const isHeld = (half: Buffer | null) => agentKeys.some(({ publicKey }) => half?.equals(publicKey));
  const isOwn = (key: Buffer) => files.some((file) => publicHalfOf(file)?.equals(key));
  const reasons = identityFiles
    .filter((_, i) => certified[i])
    .map((path) => `the key ${path} has a certificate`);
  for (const file of files) {
    if (file.kind !== "foreign") continue;
    if (file.why === "is a hardware key" || !isHeld(file.publicKey))
      reasons.push(`the key ${file.path} ${file.why}`);
  }
  for (const { type, key, publicKey } of agentKeys) {
    if (key !== null || (identitiesOnly && !isOwn(publicKey))) continue;
    if (/-cert-v\d+@/.test(type)) reasons.push("the agent holds a certificate");
    else if (type.startsWith("sk-")) reasons.push("the agent holds a hardware key");
  }
  const canOffer = orderKeys(files, agentKeys, { identitiesOnly, canAsk: true }).offers.length > 0;
  if (ask !== null && !canOffer && reasons.length === 0)
    reasons.push("there is no key to log in with, and it may ask for something else");
  return [...new Set(reasons)];
}

async function loadKeys({ identityFiles, agentSocket }: SshTarget) {
  const [files, agentKeys] = await Promise.all([
    Promise.all(identityFiles.map(loadKeyFile)),
    agentSocket === null ? [] : loadAgentKeys(agentSocket),
  ]);
  return { files, agentKeys };
}

async function hasCertificate(path: string): Promise<boolean> {
  const text = await readFile(`${path}-cert.pub`, "latin1").catch(() => "");
  return /^\S+-cert-v\d+@\S+ /.test(text);
}
