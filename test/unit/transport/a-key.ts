import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import ssh2, { type ParsedKey } from "ssh2";
import { makeKey } from "../../rig/sshd.js";

/**
 * Made by ssh-keygen: one in 256 of the ed25519 keys that ssh2 makes lacks a leading zero, and ssh2 itself cannot read
 * it.
 */
export function aKey(): ParsedKey {
  const dir = mkdtempSync(join(tmpdir(), "sshoal-key-"));
  try {
    makeKey(join(dir, "key"));
    const key = ssh2.utils.parseKey(readFileSync(join(dir, "key")));
    if (key instanceof Error || Array.isArray(key)) throw new Error("no key");
    return key;
  } finally {
    rmSync(dir, { recursive: true });
  }
}
