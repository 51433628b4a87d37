// Parses and writes known_hosts files (sshd(8), "SSH_KNOWN_HOSTS FILE FORMAT").

import { createHash, createHmac, randomBytes } from "node:crypto";

export interface KnownKey {
  readonly file: string;
  readonly line: number;
  readonly marker: "revoked" | "cert-authority" | null;
  /** Host patterns as written: `gpu1,*.lab,!old.lab`, `[gpu1]:2222` or `|1|salt|hash`. */
  readonly hosts: string;
  readonly type: string;
  /** Base64. */
  readonly key: string;
}

/** Skips lines that are no entries, as OpenSSH does. */
export function parseKnownHosts(text: string, file: string): KnownKey[] {
  return text.split("\n").flatMap((line, i) => parseLine(line, file, i + 1));
}

function parseLine(text: string, file: string, line: number): KnownKey[] {
  const fields = text.trim().split(/[ \t]+/);
  const word = fields[0]?.startsWith("@") ? (fields.shift() ?? "") : "";
  const marker = MARKERS.get(word);
  const [hosts, type, key] = fields;
  if (hosts === undefined || hosts.startsWith("#") || type === undefined || key === undefined) return [];
  if (marker === undefined || !isKeyOf(type, key)) return [];
  return [{ file, line, marker, hosts, type, key }];
}

const MARKERS: ReadonlyMap<string, KnownKey["marker"]> = new Map([
  ["", null],
  ["@revoked", "revoked"],
  ["@cert-authority", "cert-authority"],
]);

/** A damaged line must not make a host look changed. */
function isKeyOf(type: string, base64: string): boolean {
  const key = Buffer.from(base64, "base64");
  return key.length > 4 + type.length && keyType(key) === type;
}

/** A host's name in the file: `gpu1`, or `[gpu1]:2222` if the port is not 22. A HostKeyAlias replaces both. */
export function hostEntry(host: string, port: number): string {
  return port === 22 ? host.toLowerCase() : `[${host.toLowerCase()}]:${port}`;
}

export function matchesHost(known: KnownKey, entry: string): boolean {
  if (known.hosts.startsWith("|1|")) return matchesHash(known.hosts, entry);
  const patterns = known.hosts.split(",");
  const isDenied = patterns.some((p) => p.startsWith("!") && matchesPattern(p.slice(1), entry));
  return !isDenied && patterns.some((p) => matchesPattern(p, entry));
}

function matchesHash(hashed: string, entry: string): boolean {
  const [, , salt, hash] = hashed.split("|");
  return salt !== undefined && hash !== undefined && digest(entry, salt) === hash;
}

function digest(entry: string, salt: string): string {
  return createHmac("sha1", Buffer.from(salt, "base64")).update(entry).digest("base64");
}

const SALT_BYTES = 20;

/** `|1|salt|hash`, as with HashKnownHosts: a reader of the file does not see which hosts are in it. */
export function hashEntry(entry: string): string {
  const salt = randomBytes(SALT_BYTES).toString("base64");
  return `|1|${salt}|${digest(entry, salt)}`;
}

function matchesPattern(pattern: string, entry: string): boolean {
  const source = pattern
    .toLowerCase()
    .replace(/[.+^${}()|[\]\\]/g, "\\$&")
    .replaceAll("*", ".*")
    .replaceAll("?", ".");
  return new RegExp(`^${source}$`).test(entry);
}

export type Verdict =
  | { readonly kind: "trusted" }
  | { readonly kind: "new" }
  | { readonly kind: "revoked"; readonly by: KnownKey }
  /** The host is known by other keys; `by` is the line of one of them. */
  | { readonly kind: "changed"; readonly by: KnownKey };

/** `key` is the raw key as the server sent it. */
export function checkHostKey(known: readonly KnownKey[], entry: string, key: Buffer): Verdict {
  const offered = key.toString("base64");
  const entries = known.filter((line) => matchesHost(line, entry));
  const revoked = entries.find((line) => line.marker === "revoked" && line.key === offered);
  if (revoked !== undefined) return { kind: "revoked", by: revoked };
  const usable = entries.filter((line) => line.marker === null && Object.hasOwn(SIGNATURES, line.type));
  if (usable.some((line) => line.key === offered)) return { kind: "trusted" };
  // Known types are requested first, so a host that shows another type has none of its known keys.
  const by = usable.find((line) => line.type === keyType(key)) ?? usable[0];
  return by === undefined ? { kind: "new" } : { kind: "changed", by };
}

/** Key types that ssh2 can check, best first, with the signature algorithms for each. */
const SIGNATURES: Readonly<Record<string, readonly string[]>> = {
  "ssh-ed25519": ["ssh-ed25519"],
  "ecdsa-sha2-nistp256": ["ecdsa-sha2-nistp256"],
  "ecdsa-sha2-nistp384": ["ecdsa-sha2-nistp384"],
  "ecdsa-sha2-nistp521": ["ecdsa-sha2-nistp521"],
  "ssh-rsa": ["rsa-sha2-512", "rsa-sha2-256", "ssh-rsa"],
};

/** Known only by keys that only OpenSSH can check: those of an authority, or of hardware. */
export function foreignKeyOf(known: readonly KnownKey[], entry: string): KnownKey | null {
  const entries = known.filter((line) => line.marker !== "revoked" && matchesHost(line, entry));
  if (entries.some((line) => line.marker === null && Object.hasOwn(SIGNATURES, line.type))) return null;
  return entries.find((line) => line.marker === "cert-authority" || line.type.startsWith("sk-")) ?? null;
}

/** Signature algorithms to request from the server: the types that the host is known by come first. */
export function signatureAlgorithms(known: readonly KnownKey[], entry: string): string[] {
  const entries = known.filter((line) => line.marker === null && matchesHost(line, entry));
  const types = Object.keys(SIGNATURES);
  const isKnown = (type: string) => entries.some((line) => line.type === type);
  const ordered = [...types.filter(isKnown), ...types.filter((type) => !isKnown(type))];
  return ordered.flatMap((type) => SIGNATURES[type] ?? []);
}

/** The raw key begins with its type as a length-prefixed string. */
export function keyType(key: Buffer): string {
  if (key.length < 4) return "";
  return key.subarray(4, 4 + key.readUInt32BE(0)).toString("latin1");
}

/** `SHA256:…`, as `ssh-keygen -lf` prints it. */
export function fingerprint(key: Buffer): string {
  return `SHA256:${createHash("sha256").update(key).digest("base64").replace(/=+$/, "")}`;
}

/** `name`: a host's entry, or its hash. */
export function formatKnownHost(name: string, key: Buffer): string {
  return `${name} ${keyType(key)} ${key.toString("base64")}\n`;
}

/** `ssh-ed25519 SHA256:…`. */
export function describeKey(key: Buffer): string {
  return `${keyType(key)} ${fingerprint(key)}`;
}
