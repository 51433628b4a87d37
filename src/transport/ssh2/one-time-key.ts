// A key pair for a single connection. It is kept in memory alone.

import { generateKeyPairSync } from "node:crypto";
import ssh2 from "ssh2";

export interface OneTimeKey {
  readonly privatePem: string;
  /** As ssh sends it. */
  readonly publicKey: Buffer;
}

export function makeOneTimeKey(): OneTimeKey {
  const { privateKey } = generateKeyPairSync("ec", {
    namedCurve: "prime256v1",
    privateKeyEncoding: { type: "sec1", format: "pem" },
    publicKeyEncoding: { type: "spki", format: "pem" },
  });
  const key = ssh2.utils.parseKey(privateKey);
  if (key instanceof Error) throw key;
  return { privatePem: privateKey, publicKey: key.getPublicSSH() };
}
