import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { loadKeyFile, parsePublicKey, publicHalfOf } from "../../../../src/transport/login/key-file.js";
import { aHardwareKey } from "../hardware-key.js";

let dir = "";
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), "sshoal-keys-"));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

interface Kind {
  type: string;
  bits?: number;
  format?: string;
  passphrase?: string;
  cipher?: string;
}

function make({ type, bits, format = "RFC4716", passphrase = "", cipher }: Kind) {
  const path = join(mkdtempSync(join(dir, "key-")), "key");
  const more = [...(bits ? ["-b", String(bits)] : []), ...(cipher ? ["-Z", cipher] : [])];
  const kind = ["-t", type, "-m", format, "-a", "1", ...more];
  execFileSync("ssh-keygen", ["-q", ...kind, "-N", passphrase, "-C", "", "-f", path]);
  return { path, publicKey: readFileSync(`${path}.pub`, "utf8").split(" ")[1]?.trim() ?? "" };
}

const TYPES: readonly Kind[] = [
  { type: "rsa", bits: 2048 },
  { type: "ecdsa", bits: 256 },
  { type: "ecdsa", bits: 384 },
  { type: "ecdsa", bits: 521 },
  { type: "ed25519" },
];
const READABLE = TYPES.flatMap((kind) => [
  { ...kind, bits: kind.bits ?? 0, format: "RFC4716" },
  { ...kind, bits: kind.bits ?? 0, format: "PEM" },
]);

test.each(READABLE)("$type $bits in $format without a passphrase is usable", async (kind) => {
  const { path, publicKey } = make(kind);
  const file = await loadKeyFile(path);
  expect(file.kind).toBe("usable");
  expect(publicHalfOf(file)?.toString("base64")).toBe(publicKey);
});

test.each(READABLE)("$type $bits in $format with one opens only with the right one", async (kind) => {
  const { path, publicKey } = make({ ...kind, passphrase: "open sesame" });
  const file = await loadKeyFile(path);
  if (file.kind !== "locked") throw new Error(`is ${file.kind}`);
  expect(file.publicKey?.toString("base64")).toBe(publicKey);
  expect(file.unlock("open barley")).toBeNull();
  const key = file.unlock("open sesame");
  expect(key?.getPublicSSH().toString("base64")).toBe(publicKey);
  const signature = key?.sign(Buffer.from("text")) ?? Buffer.alloc(0);
  expect(parsePublicKey(Buffer.from(publicKey, "base64"))?.verify("text", signature)).toBe(true);
});

test("an older key without a .pub file also refuses a wrong passphrase", async () => {
  const { path } = make({ type: "rsa", format: "PEM", passphrase: "open sesame" });
  rmSync(`${path}.pub`);
  const file = await loadKeyFile(path);
  if (file.kind !== "locked") throw new Error(`is ${file.kind}`);
  expect(file.publicKey).toBeNull();
  for (let i = 0; i < 300; i++) expect(file.unlock(`wrong ${i}`)).toBeNull();
  expect(file.unlock("open sesame")).not.toBeNull();
});

test("OpenSSH's own format shows its public half without a .pub file", async () => {
  const { path, publicKey } = make({ type: "ed25519", passphrase: "open sesame" });
  rmSync(`${path}.pub`);
  expect(publicHalfOf(await loadKeyFile(path))?.toString("base64")).toBe(publicKey);
});

test.each([
  { type: "rsa", format: "PKCS8" },
  { type: "rsa", format: "PKCS8", passphrase: "open sesame" },
  { type: "ecdsa", format: "PKCS8" },
  { type: "ed25519", passphrase: "open sesame", cipher: "chacha20-poly1305@openssh.com" },
])("a format that only OpenSSH reads is recognised, with its public half: %o", async (kind) => {
  const { path, publicKey } = make(kind);
  const file = await loadKeyFile(path);
  expect(file).toMatchObject({ kind: "foreign", why: "is in a format that only OpenSSH reads" });
  expect(publicHalfOf(file)?.toString("base64")).toBe(publicKey);
});

test("so is a hardware key, with its public half", async () => {
  const { privateText, publicText } = aHardwareKey();
  const path = join(dir, "id_ed25519_sk");
  writeFileSync(path, privateText, { mode: 0o600 });
  writeFileSync(`${path}.pub`, publicText);
  // OpenSSH accepts it as well.
  expect(execFileSync("ssh-keygen", ["-lf", path], { encoding: "utf8" })).toContain("(ED25519-SK)");
  expect(await loadKeyFile(path)).toMatchObject({ kind: "foreign", why: "is a hardware key" });
  const half = await loadKeyFile(`${path}.pub`);
  expect(half).toMatchObject({ kind: "public-half" });
  expect(publicHalfOf(half)?.toString("base64")).toBe(publicText.split(" ")[1]);
});

test("a public key names a key of the agent, by its own file or beside the missing private one", async () => {
  const { path, publicKey } = make({ type: "ed25519" });
  const half = await loadKeyFile(`${path}.pub`);
  expect(half).toMatchObject({ kind: "public-half", path: `${path}.pub` });
  expect(publicHalfOf(half)?.toString("base64")).toBe(publicKey);
  rmSync(path);
  expect(await loadKeyFile(path)).toMatchObject({ kind: "public-half", path });
});

test("a file that is no key, or is missing, is reported", async () => {
  const path = join(dir, "garbage");
  const broken = [
    "",
    "not a key\n",
    "ssh-ed25519\n",
    "ssh-ed25519 AAAA\n",
    "-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n-----END OPENSSH PRIVATE KEY-----\n",
  ];
  for (const text of broken) {
    writeFileSync(path, text);
    expect([text, (await loadKeyFile(path)).kind]).toEqual([text, "unreadable"]);
  }
  expect(await loadKeyFile(dir)).toMatchObject({ kind: "unreadable" });
  expect(await loadKeyFile(join(dir, "missing"))).toEqual({ kind: "missing", path: join(dir, "missing") });
});
