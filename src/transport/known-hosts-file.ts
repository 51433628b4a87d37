// The known_hosts files on this computer: what they say of a host, and adding a host seen for the first time.

import { appendFile, mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { ConnectError, describeAddress, type SshAddress } from "./connect-error.js";
import {
  checkHostKey,
  fingerprint,
  formatKnownHost,
  hostEntry,
  type KnownKey,
  keyType,
  parseKnownHosts,
  signatureAlgorithms,
} from "./known-hosts.js";
import { quote, quoteIfNeeded } from "./quote.js";

export interface HostKeyCheck {
  /** For ssh2's `algorithms.serverHostKey`. */
  readonly algorithms: string[];
  /** Throws a ConnectError unless the key is this host's, or the host is new. */
  check(key: Buffer): void;
  /** Keeps and notes a new host. To be called once the host has proven that the key is its own. */
  remember(): Promise<void>;
}

export interface HostKeyOptions {
  readonly homeDir: string;
  readonly systemKnownHosts?: readonly string[];
  readonly onNote: (message: string) => void;
}

const SYSTEM_FILES = ["/etc/ssh/ssh_known_hosts", "/etc/ssh/ssh_known_hosts2"];

export async function loadHostKeyCheck(address: SshAddress, options: HostKeyOptions): Promise<HostKeyCheck> {
  const ownFile = join(options.homeDir, ".ssh", "known_hosts");
  const files = [ownFile, `${ownFile}2`, ...(options.systemKnownHosts ?? SYSTEM_FILES)];
  const known = (await Promise.all(files.map(loadKnownHosts))).flat();
  const entry = hostEntry(address.host, address.port);
  let newKey: Buffer | null = null;
  return {
    algorithms: signatureAlgorithms(known, entry),
    check(key) {
      const verdict = checkHostKey(known, entry, key);
      if (verdict.kind === "trusted") return;
      if (verdict.kind !== "new") throw refusal(verdict.kind, verdict.by, key, address);
      newKey = key;
      // Keys are exchanged anew every now and then on one connection: from now on the host is known.
      known.push(...parseKnownHosts(formatKnownHost(entry, key), ownFile));
    },
    async remember() {
      if (newKey !== null) options.onNote(await append(ownFile, entry, newKey));
      newKey = null;
    },
  };
}

async function loadKnownHosts(file: string): Promise<KnownKey[]> {
  return parseKnownHosts(await readIfThere(file), file);
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

function refusal(kind: "changed" | "revoked", by: KnownKey, key: Buffer, address: SshAddress): ConnectError {
  const shown = `${keyType(key)} ${fingerprint(key)}`;
  const where = `${by.file}:${by.line}`;
  const entry = hostEntry(address.host, address.port);
  if (kind === "revoked") {
    return new ConnectError(
      "host-key",
      `${describeAddress(address)}: its host key ${shown} is revoked by ${where}`,
      { hint: "ask whoever runs the machine; do not connect" },
    );
  }
  return new ConnectError(
    "host-key",
    `${describeAddress(address)}: its host key is now ${shown}, not the one in ${where}`,
    { hint: `if the machine was set up anew: ssh-keygen -R ${quote(entry)} -f ${quoteIfNeeded(by.file)}` },
  );
}

/** Returns what to tell people. A home that cannot be written to is no reason to stop, as with ssh. */
async function append(file: string, entry: string, key: Buffer): Promise<string> {
  const seen = `new host ${entry}, key ${keyType(key)} ${fingerprint(key)}`;
  try {
    await mkdir(join(file, ".."), { recursive: true, mode: 0o700 });
    const text = await readIfThere(file);
    const separator = text === "" || text.endsWith("\n") ? "" : "\n";
    // One write, so that several clients adding hosts at once keep their lines apart.
    await appendFile(file, separator + formatKnownHost(entry, key), { mode: 0o600 });
    return `${seen}: added to ${file}`;
  } catch (error) {
    return `${seen}: could not be added to ${file} (${(error as Error).message})`;
  }
}
