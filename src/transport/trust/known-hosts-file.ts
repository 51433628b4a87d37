// Reads the known_hosts files of this computer, and adds hosts that are seen for the first time.

import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { mkdir, readFile } from "node:fs/promises";
import { dirname } from "node:path";
import type { SshTarget } from "../config/target.js";
import { ConnectError } from "../connect-error.js";
import { quoteIfNeeded } from "../quote.js";
import { changedKey, revokedKey, unknownHost } from "./host-key-refusal.js";
import {
  checkHostKey,
  describeKey,
  foreignKeyOf,
  formatKnownHost,
  hashEntry,
  hostEntry,
  type KnownKey,
  matchesHost,
  parseKnownHosts,
  signatureAlgorithms,
  type Verdict,
} from "./known-hosts.js";

export interface HostKeyCheck {
  /** For ssh2's `algorithms.serverHostKey`. */
  readonly algorithms: string[];
  /** Throws a ConnectError unless the key belongs to this host, or the host is new and new hosts are accepted. */
  check(key: Buffer): void;
  /** Stores and reports a new host. Call it once the host has proven that it owns the key. */
  remember(): Promise<void>;
  /** `ssh-ed25519 SHA256:…`; null: it has not shown one yet. */
  shown(): string | null;
}

export interface HostKeyOptions {
  readonly onNote: (message: string) => void;
}

export async function loadHostKeyCheck(target: SshTarget, { onNote }: HostKeyOptions): Promise<HostKeyCheck> {
  const known = await loadKnownKeys(target);
  const entry = entryOf(target);
  const ownFile = target.userKnownHosts[0] ?? null;
  let shown: Buffer | null = null;
  let newKey: Buffer | null = null;
  return {
    algorithms: signatureAlgorithms(known, bestEntry(known, target)),
    check(key) {
      shown = key;
      const verdict = judge(known, target, key);
      if (verdict.kind === "trusted") return;
      if (verdict.kind === "revoked") throw revokedKey(target, key, verdict.by);
      if (verdict.kind === "changed") throw changedKey(target, key, verdict.by, entry);
      if (target.hostKeys === "strict") throw unknownHost(target, key);
      newKey = key;
      // Keys are exchanged again from time to time on one connection: from now on the host is known.
      known.push(...parseKnownHosts(formatKnownHost(entry, key), ownFile ?? ""));
    },
    async remember() {
      const key = newKey;
      newKey = null;
      if (key === null) return;
      const kept = await keep(ownFile, { entry, key, isHashed: target.hashesKnownHosts });
      if (kept !== null) onNote(`new host ${entry}, key ${describeKey(key)}: ${kept}`);
    },
    shown: () => (shown === null ? null : describeKey(shown)),
  };
}

/** Why ssh2 could not check the host's key as OpenSSH would, in words. */
export async function hostNeedsOpenssh(target: SshTarget): Promise<string[]> {
  const by = foreignKeyOf(await loadKnownKeys(target), entryOf(target));
  if (by === null) return [];
  const what = by.marker === "cert-authority" ? "a certificate authority" : "a hardware key";
  return [`${by.file}:${by.line} lists it with ${what}`];
}

/** The host's name in known_hosts. An alias is used without a port. */
export function entryOf({ host, port, hostKeyAlias }: SshTarget): string {
  return hostKeyAlias === null ? hostEntry(host, port) : hostEntry(hostKeyAlias, 22);
}

/** As OpenSSH does: a host that is new at its port may show the key under which it is known without a port. */
function judge(known: readonly KnownKey[], target: SshTarget, key: Buffer): Verdict {
  const verdict = checkHostKey(known, entryOf(target), key);
  if (verdict.kind !== "new" || target.hostKeyAlias !== null) return verdict;
  const atUsualPort = checkHostKey(known, hostEntry(target.host, 22), key);
  return atUsualPort.kind === "changed" ? verdict : atUsualPort;
}

function bestEntry(known: readonly KnownKey[], target: SshTarget): string {
  const entry = entryOf(target);
  const isKnown = known.some((line) => line.marker === null && matchesHost(line, entry));
  return isKnown || target.hostKeyAlias !== null ? entry : hostEntry(target.host, 22);
}

async function loadKnownKeys({ userKnownHosts, globalKnownHosts }: SshTarget): Promise<KnownKey[]> {
  const files = [...userKnownHosts, ...globalKnownHosts];
  return (
    await Promise.all(files.map(async (file) => parseKnownHosts(await readIfThere(file), file)))
  ).flat();
}

async function readIfThere(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === "ENOENT" || code === "ENOTDIR") return "";
    throw new ConnectError("host-key", `cannot check host keys: ${(error as Error).message}`, {
      hint: `ls -l ${quoteIfNeeded(file)}`,
      cause: error,
    });
  }
}

interface NewHost {
  readonly entry: string;
  readonly key: Buffer;
  readonly isHashed: boolean;
}

/**
 * Returns the report; null if another connection to the same host was first. As with ssh, a home that is not writable
 * is no error.
 */
async function keep(file: string | null, { entry, key, isHashed }: NewHost): Promise<string | null> {
  if (file === null || file === "/dev/null") return "not stored, because there is no known_hosts file";
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    // Synchronous from here on, so that only one of several connections adds the host.
    const text = existsSync(file) ? readFileSync(file, "utf8") : "";
    if (checkHostKey(parseKnownHosts(text, file), entry, key).kind === "trusted") return null;
    const separator = text === "" || text.endsWith("\n") ? "" : "\n";
    const line = formatKnownHost(isHashed ? hashEntry(entry) : entry, key);
    // One write, so that the lines of several clients do not mix.
    appendFileSync(file, separator + line, { mode: 0o600 });
    return `added to ${file}`;
  } catch (error) {
    return `could not be added to ${file} (${(error as Error).message})`;
  }
}
