import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { SshTarget } from "../../../../src/transport/config/target.js";
import type { Ask } from "../../../../src/transport/login/ask-person.js";
import { loadLogin, loginNeedsOpenssh } from "../../../../src/transport/login/auth.js";
import { KeyRing } from "../../../../src/transport/login/key-ring.js";
import { startAgent, type TestAgent } from "../../../rig/agent.js";
import { aTarget } from "../a-target.js";
import { aHardwareKey } from "../hardware-key.js";

let dir = "";
let agent: TestAgent;
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), "sshoal-auth-"));
  agent = await startAgent(dir);
});
afterEach(() => agent.clear());
afterAll(() => {
  agent.stop();
  rmSync(dir, { recursive: true, force: true });
});

const PERSON: Ask = { passphrase: async () => null };

function make(options: { format?: string; passphrase?: string } = {}): string {
  const { format = "RFC4716", passphrase = "" } = options;
  const path = join(mkdtempSync(join(dir, "key-")), "key");
  const type = format === "RFC4716" ? "ed25519" : "ecdsa";
  const kind = ["-t", type, "-m", format, "-a", "1"];
  execFileSync("ssh-keygen", ["-q", ...kind, "-N", passphrase, "-C", "", "-f", path]);
  return path;
}

function certify(path: string): void {
  execFileSync("ssh-keygen", ["-q", "-s", make(), "-I", "me", "-n", "me", `${path}.pub`]);
}

function hardwareKey(): string {
  const path = join(mkdtempSync(join(dir, "key-")), "key");
  writeFileSync(path, aHardwareKey().privateText, { mode: 0o600 });
  return path;
}

function needs(parts: Partial<SshTarget>, ask: Ask | null = null): Promise<string[]> {
  return loginNeedsOpenssh(aTarget(parts), { ask });
}

describe("logins that only OpenSSH can do", () => {
  test("a certificate beside an identity file", async () => {
    const [plain, certified] = [make(), make()];
    certify(certified);
    expect(await needs({ identityFiles: [plain] })).toEqual([]);
    expect(await needs({ identityFiles: [plain, certified] })).toEqual([
      `the key ${certified} has a certificate`,
    ]);
    // The key itself may be only in the agent.
    rmSync(certified);
    expect(await needs({ identityFiles: [certified] })).toHaveLength(1);
    writeFileSync(`${certified}-cert.pub`, "nonsense\n");
    expect(await needs({ identityFiles: [certified] })).toEqual([]);
  });

  test("a hardware key, even if named beside others", async () => {
    const path = hardwareKey();
    expect(await needs({ identityFiles: [make(), path] })).toEqual([`the key ${path} is a hardware key`]);
  });

  test("a format that ssh2 cannot read, unless the agent has the key", async () => {
    const path = make({ format: "PKCS8" });
    const reason = `the key ${path} is in a format that only OpenSSH reads`;
    expect(await needs({ identityFiles: [path], agentSocket: agent.socket })).toEqual([reason]);
    agent.add(path);
    expect(await needs({ identityFiles: [path], agentSocket: agent.socket })).toEqual([]);
  });

  test("an agent with a certificate, unless only the identity files count", async () => {
    const path = make();
    certify(path);
    agent.add(path);
    const parts = { identityFiles: [make()], agentSocket: agent.socket };
    expect(await needs(parts)).toEqual(["the agent holds a certificate"]);
    expect(await needs({ ...parts, identitiesOnly: true })).toEqual([]);
  });

  test("no key to offer, and a person to ask", async () => {
    const gone = join(dir, "gone");
    expect(await needs({ identityFiles: [gone] })).toEqual([]);
    expect(await needs({ identityFiles: [gone] }, PERSON)).toEqual([
      "there is no key to log in with, and it may ask for something else",
    ]);
    expect(await needs({ identityFiles: [make({ passphrase: "secret" })] }, PERSON)).toEqual([]);
    agent.add(make());
    expect(await needs({ identityFiles: [gone], agentSocket: agent.socket }, PERSON)).toEqual([]);
  });
});

describe("a key that a person chose but that cannot be used is reported before connecting", () => {
  function load(path: string, parts: Partial<SshTarget> = {}, ask: Ask | null = null) {
    const own = { identityFiles: [path], hasOwnIdentities: true, identitiesOnly: true, ...parts };
    return loadLogin(aTarget(own), { ask, keys: new KeyRing() });
  }

  test("it does not exist", async () => {
    const path = join(dir, "gone");
    await expect(load(path)).rejects.toMatchObject({
      kind: "key-file",
      isRetryable: false,
      message: `gpu1:22: there is no key file ${path}`,
    });
  });

  test("it has a passphrase: without an agent, with one that does not have it, and with a person to ask", async () => {
    const path = make({ passphrase: "secret" });
    await expect(load(path)).rejects.toMatchObject({
      message: `gpu1:22: the key ${path} has a passphrase, and there is no agent`,
      hint: `eval "$(ssh-agent)"; ssh-add ${path}`,
    });
    await expect(load(path, { agentSocket: agent.socket })).rejects.toMatchObject({
      message: `gpu1:22: the key ${path} has a passphrase, and the agent does not hold it`,
      hint: `ssh-add ${path}`,
    });
    await expect(load(path, {}, PERSON)).resolves.toBeDefined();
    agent.add(path, "secret");
    await expect(load(path, { agentSocket: agent.socket })).resolves.toBeDefined();
  });

  test("it is not a key", async () => {
    const path = join(dir, "garbage");
    writeFileSync(path, "not a key\n");
    await expect(load(path)).rejects.toMatchObject({
      kind: "key-file",
      hint: `check it with OpenSSH: ssh-keygen -y -f ${path}`,
    });
  });

  test("but one usable key of several is enough, and the default files need not exist", async () => {
    const gone = join(dir, "gone");
    await expect(load(gone, { identityFiles: [gone, make()] })).resolves.toBeDefined();
    await expect(load(gone, { hasOwnIdentities: false, identitiesOnly: false })).resolves.toBeDefined();
  });
});
