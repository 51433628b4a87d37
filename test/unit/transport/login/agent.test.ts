import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { loadAgentKeys, parseIdentities, signByAgent } from "../../../../src/transport/login/agent.js";
import { startAgent, type TestAgent } from "../../../rig/agent.js";

let dir = "";
let agent: TestAgent;
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), "sshoal-agent-"));
  agent = await startAgent(dir);
});
afterAll(() => {
  agent.stop();
  rmSync(dir, { recursive: true, force: true });
});

function make(name: string, type: string): string {
  const path = join(mkdtempSync(join(dir, "key-")), name);
  execFileSync("ssh-keygen", ["-q", "-t", type, "-N", "", "-C", "", "-f", path]);
  return path;
}

test("its keys are listed in its order, with a certificate as one that ssh2 cannot use", async () => {
  agent.clear();
  const [ca, rsa, ecdsa] = [make("ca", "ed25519"), make("rsa", "rsa"), make("ecdsa", "ecdsa")];
  agent.add(ecdsa);
  execFileSync("ssh-keygen", ["-q", "-s", ca, "-I", "me", "-n", "me", `${rsa}.pub`]);
  agent.add(rsa);
  const keys = await loadAgentKeys(agent.socket);
  expect(keys.map(({ type, key }) => [type, key !== null])).toEqual([
    ["ecdsa-sha2-nistp256", true],
    ["ssh-rsa", true],
    ["ssh-rsa-cert-v01@openssh.com", false],
  ]);
  expect(keys[0]?.publicKey.toString("base64")).toBe(
    readFileSync(`${ecdsa}.pub`, "utf8").split(" ")[1]?.trim(),
  );
});

test("it signs with one of its keys, and the signature is valid", async () => {
  agent.add(make("signer", "ed25519"));
  const key = (await loadAgentKeys(agent.socket)).find(({ type }) => type === "ssh-ed25519")?.key;
  if (!key) throw new Error("not held");
  const data = Buffer.from("text");
  expect(key.verify(data, await signByAgent(agent.socket, key, data, {}))).toBe(true);
  agent.clear();
  await expect(signByAgent(agent.socket, key, data, {})).rejects.toThrow();
  expect(await loadAgentKeys(agent.socket)).toEqual([]);
});

test("a missing agent, or one that closes the connection or sends nonsense, has no keys", async () => {
  expect(await loadAgentKeys(join(dir, "nothing-there"))).toEqual([]);
  const answers = {
    hangup: Buffer.alloc(0),
    short: Buffer.from([0, 0, 0, 9, 12, 0]),
    long: Buffer.alloc(600_000, 255),
  };
  for (const [name, answer] of Object.entries(answers)) {
    const path = join(dir, name);
    const server = createServer((socket) => socket.on("error", () => {}).end(answer)).listen(path);
    expect([name, await loadAgentKeys(path)]).toEqual([name, []]);
    server.close();
  }
});

test("of an incomplete answer, the complete part counts", () => {
  const key = Buffer.concat([Buffer.from([0, 0, 0, 3]), Buffer.from("abc")]);
  const entry = Buffer.concat([Buffer.from([0, 0, 0, 7]), key, Buffer.from([0, 0, 0, 0])]);
  const answer = Buffer.concat([Buffer.from([12, 0, 0, 0, 2]), entry, entry.subarray(0, 9)]);
  expect(parseIdentities(answer).map(({ type }) => type)).toEqual(["abc"]);
  expect(parseIdentities(Buffer.from([5]))).toEqual([]);
  expect(parseIdentities(Buffer.alloc(0))).toEqual([]);
});
