// Reads a key file and finds out how it can be used. OpenSSH stores the public half of a key with a passphrase
// unencrypted. It identifies the agent's key, and is offered to a server before a passphrase is asked for.

import { readFile } from "node:fs/promises";
import ssh2, { type ParsedKey } from "ssh2";
import { keyType } from "../trust/known-hosts.js";

export type KeyFile =
  | { readonly kind: "usable"; readonly path: string; readonly key: ParsedKey }
  | LockedKeyFile
  /** Only the agent can sign with it. */
  | { readonly kind: "public-half"; readonly path: string; readonly publicKey: Buffer }
  /** OpenSSH could sign with it, ssh2 cannot. */
  | {
      readonly kind: "foreign";
      readonly path: string;
      readonly why: "is a hardware key" | typeof FORMAT;
      readonly publicKey: Buffer | null;
    }
  | { readonly kind: "unreadable"; readonly path: string; readonly reason: string }
  | { readonly kind: "missing"; readonly path: string };

const FORMAT = "is in a format that only OpenSSH reads";

export interface LockedKeyFile {
  readonly kind: "locked";
  readonly path: string;
  /** Null: not known before it is unlocked. */
  readonly publicKey: Buffer | null;
  /** Null: the passphrase is wrong. */
  unlock(passphrase: string): ParsedKey | null;
}

export async function loadKeyFile(path: string): Promise<KeyFile> {
  try {
    const file = parseKeyFile(path, await readFile(path, "latin1"));
    if ((file.kind !== "locked" && file.kind !== "foreign") || file.publicKey !== null) return file;
    return { ...file, publicKey: await loadPublicHalf(`${path}.pub`) };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== "ENOENT") return { kind: "unreadable", path, reason: message };
  }
  // The private key may be only in the agent; then this computer just has `id_ed25519.pub`.
  const publicKey = await loadPublicHalf(`${path}.pub`);
  return publicKey === null ? { kind: "missing", path } : { kind: "public-half", path, publicKey };
}

/** The public half of a key file, which identifies it; null: not known. */
export function publicHalfOf(file: KeyFile): Buffer | null {
  if (file.kind === "usable") return file.key.getPublicSSH();
  return "publicKey" in file ? file.publicKey : null;
}

/** Null if ssh2 does not support keys of that type. */
export function parsePublicKey(blob: Buffer): ParsedKey | null {
  const type = keyType(blob);
  // ssh2 would mistake a certificate for its key.
  if (!/^(ssh-(rsa|ed25519|dss)|ecdsa-sha2-nistp\d+)$/.test(type)) return null;
  const key = parseKey(`${type} ${blob.toString("base64")}`);
  return key instanceof Error ? null : key;
}

function parseKeyFile(path: string, text: string): KeyFile {
  const { cipher, publicKey } = openSshHead(text);
  if (publicKey !== null && keyType(publicKey).startsWith("sk-")) {
    return { kind: "foreign", path, why: "is a hardware key", publicKey };
  }
  // ssh2 mistakes this cipher for another one, and calls every passphrase wrong.
  if (cipher.startsWith("chacha20")) return { kind: "foreign", path, why: FORMAT, publicKey };
  const key = parseKey(text);
  if (key instanceof Error) {
    if (/encrypted .*no passphrase/i.test(key.message)) {
      return { kind: "locked", path, publicKey, unlock: (passphrase) => unlock(text, passphrase) };
    }
    if (/not supported|unsupported/i.test(key.message) && isPrivateKey(text)) {
      return { kind: "foreign", path, why: FORMAT, publicKey };
    }
    return parsePublicFile(path, text) ?? { kind: "unreadable", path, reason: key.message };
  }
  if (key.isPrivateKey()) return { kind: "usable", path, key };
  return parsePublicFile(path, text) ?? { kind: "public-half", path, publicKey: key.getPublicSSH() };
}

/** For OpenSSH's own format ssh2 returns a list, which could have several keys but never does. */
function parseKey(text: string, passphrase?: string): ParsedKey | Error {
  const parsed = ssh2.utils.parseKey(text, passphrase);
  return Array.isArray(parsed) ? (parsed[0] ?? new Error("holds no key")) : parsed;
}

function isPrivateKey(text: string): boolean {
  return /^-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(text.trimStart());
}

/** The older formats have nothing to check a passphrase by: a wrong one can give a key that does not work. */
function unlock(text: string, passphrase: string): ParsedKey | null {
  try {
    const key = parseKey(text, passphrase);
    if (key instanceof Error) return null;
    const sample = Buffer.from("sample");
    return key.verify(sample, key.sign(sample)) === true ? key : null;
  } catch {
    return null;
  }
}

async function loadPublicHalf(path: string): Promise<Buffer | null> {
  const file = parsePublicFile(path, await readFile(path, "latin1").catch(() => ""));
  return file === null ? null : file.publicKey;
}

/** ssh2 does not know the public half of a hardware key, so only its base64 is read. */
function parsePublicFile(path: string, text: string): (KeyFile & { kind: "public-half" }) | null {
  const [type = "", base64 = ""] = text.trim().split(/\s+/);
  const publicKey = Buffer.from(base64, "base64");
  if (publicKey.length < 8 || publicKey.readUInt32BE(0) !== type.length || keyType(publicKey) !== type)
    return null;
  return { kind: "public-half", path, publicKey };
}

/** See PROTOCOL.key of OpenSSH: magic, three strings (cipher, kdf, its options), a count, then the public key. */
function openSshHead(text: string): { cipher: string; publicKey: Buffer | null } {
  const body = /-----BEGIN OPENSSH PRIVATE KEY-----([\s\S]+?)-----END/.exec(text)?.[1];
  if (body === undefined) return { cipher: "", publicKey: null };
  const bytes = Buffer.from(body, "base64");
  const stringAt = (at: number) => bytes.subarray(at + 4, at + 4 + bytes.readUInt32BE(at));
  const start = "openssh-key-v1\0".length;
  const cipher = stringAt(start).toString("latin1");
  let at = start;
  for (let i = 0; i < 3; i++) at += 4 + bytes.readUInt32BE(at);
  return { cipher, publicKey: stringAt(at + 4) };
}
