import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { loadKeyFile } from "../../../src/transport/key-file.js";

let dir = "";
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), "sshoal-keys-"));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

interface Kind {
  type: string;
  format: string;
  passphrase: string;
}

function make({ type, format, passphrase }: Kind): { path: string; publicKey: string } {
  const path = join(mkdtempSync(join(dir, "key-")), "key");
  execFileSync("ssh-keygen", ["-q", "-t", type, "-m", format, "-N", passphrase, "-C", "", "-f", path]);
  return { path, publicKey: readFileSync(`${path}.pub`, "utf8").split(" ")[1]?.trim() ?? "" };
}

const plain = ["ed25519", "rsa", "ecdsa"].map((type) => ({ type, format: "RFC4716", passphrase: "" }));
const pem = ["rsa", "ecdsa"].map((type) => ({ type, format: "PEM", passphrase: "" }));

test.each([...plain, ...pem])("$type in $format without a passphrase is usable", async (kind) => {
  const { path, publicKey } = make(kind);
  const file = await loadKeyFile(path);
  expect(file.kind).toBe("usable");
  if (file.kind === "usable") expect(file.key.getPublicSSH().toString("base64")).toBe(publicKey);
});

test.each([...plain, ...pem])(
  "$type in $format with one needs the agent, and its public half is known",
  async (kind) => {
    const { path, publicKey } = make({ ...kind, passphrase: "open sesame" });
    const file = await loadKeyFile(path);
    expect(file.kind).toBe("needs-agent");
    if (file.kind === "needs-agent") expect(file.publicKey?.toString("base64")).toBe(publicKey);
  },
);

test("the public half stored within the key does without a .pub file, PEM does not have one", async () => {
  for (const [format, isKnown] of [
    ["RFC4716", true],
    ["PEM", false],
  ] as const) {
    const { path } = make({ type: "rsa", format, passphrase: "open sesame" });
    rmSync(`${path}.pub`);
    const file = await loadKeyFile(path);
    expect(file.kind === "needs-agent" && file.publicKey !== null).toBe(isKnown);
  }
});

test("a public key names a key of the agent", async () => {
  const { path, publicKey } = make({ type: "ed25519", format: "RFC4716", passphrase: "" });
  const file = await loadKeyFile(`${path}.pub`);
  expect(file.kind === "needs-agent" && file.publicKey?.toString("base64")).toBe(publicKey);
});

test("what is no key, or not there, is said", async () => {
  const path = join(dir, "garbage");
  writeFileSync(path, "-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n-----END OPENSSH PRIVATE KEY-----\n");
  expect(await loadKeyFile(path)).toMatchObject({ kind: "unreadable", path });
  writeFileSync(path, "");
  expect(await loadKeyFile(path)).toMatchObject({ kind: "unreadable" });
  expect(await loadKeyFile(dir)).toMatchObject({ kind: "unreadable" });
  expect(await loadKeyFile(join(dir, "missing"))).toEqual({ kind: "missing", path: join(dir, "missing") });
});
