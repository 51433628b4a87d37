// A private key file: what can be done with it. A key behind a passphrase is no use here, but its public half, which
// OpenSSH stores in the clear, tells which key of the agent is meant.

import { readFile } from "node:fs/promises";
import ssh2, { type ParsedKey } from "ssh2";

export type KeyFile =
  | { readonly kind: "usable"; readonly path: string; readonly key: ParsedKey }
  /** Only the agent can sign with it. */
  | {
      readonly kind: "needs-agent";
      readonly path: string;
      readonly why: "has a passphrase" | "is only the public half";
      /** Null: not known. */
      readonly publicKey: Buffer | null;
    }
  | { readonly kind: "unreadable"; readonly path: string; readonly reason: string }
  | { readonly kind: "missing"; readonly path: string };

export async function loadKeyFile(path: string): Promise<KeyFile> {
  try {
    const file = parseKeyFile(path, await readFile(path, "latin1"));
    if (file.kind !== "needs-agent" || file.publicKey !== null) return file;
    return { ...file, publicKey: await loadPublicHalf(path) };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return code === "ENOENT" ? { kind: "missing", path } : { kind: "unreadable", path, reason: message };
  }
}

function parseKeyFile(path: string, text: string): KeyFile {
  const key: ParsedKey | Error = firstKey(ssh2.utils.parseKey(text));
  if (key instanceof Error) {
    if (/encrypted/i.test(key.message)) {
      return { kind: "needs-agent", path, why: "has a passphrase", publicKey: openSshPublicHalf(text) };
    }
    return { kind: "unreadable", path, reason: key.message };
  }
  if (key.isPrivateKey()) return { kind: "usable", path, key };
  return { kind: "needs-agent", path, why: "is only the public half", publicKey: key.getPublicSSH() };
}

/** ssh2 answers with a list for OpenSSH's own format, which could hold several keys and never does. */
function firstKey(parsed: ParsedKey | Error | ParsedKey[]): ParsedKey | Error {
  return Array.isArray(parsed) ? (parsed[0] ?? new Error("holds no key")) : parsed;
}

async function loadPublicHalf(path: string): Promise<Buffer | null> {
  const text = await readFile(`${path}.pub`, "latin1").catch(() => "");
  const key = firstKey(ssh2.utils.parseKey(text));
  return key instanceof Error ? null : key.getPublicSSH();
}

/** PROTOCOL.key of OpenSSH: magic, three strings (cipher, kdf, its options), a count, then the public key. */
function openSshPublicHalf(text: string): Buffer | null {
  const body = /-----BEGIN OPENSSH PRIVATE KEY-----([\s\S]+?)-----END/.exec(text)?.[1];
  if (body === undefined) return null;
  const bytes = Buffer.from(body, "base64");
  let at = "openssh-key-v1\0".length;
  for (let i = 0; i < 3; i++) at += 4 + bytes.readUInt32BE(at);
  const length = bytes.readUInt32BE(at + 4);
  return bytes.subarray(at + 8, at + 8 + length);
}
