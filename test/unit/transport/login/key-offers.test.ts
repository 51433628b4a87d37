import type { ParsedKey } from "ssh2";
import { expect, test } from "vitest";
import type { AgentKey } from "../../../../src/transport/login/agent.js";
import type { KeyFile } from "../../../../src/transport/login/key-file.js";
import { orderKeys } from "../../../../src/transport/login/key-offers.js";
import { fingerprint } from "../../../../src/transport/trust/known-hosts.js";
import { aKey } from "../a-key.js";

const keys = Array.from({ length: 12 }, aKey);
function key(index: number): ParsedKey {
  return keys[index] ?? aKey();
}

function held(index: number): AgentKey {
  return { publicKey: key(index).getPublicSSH(), type: "ssh-ed25519", key: key(index) };
}

function usable(index: number): KeyFile {
  return { kind: "usable", path: `/k${index}`, key: key(index) };
}

function locked(index: number, publicKey: Buffer | null = key(index).getPublicSSH()): KeyFile {
  return { kind: "locked", path: `/k${index}`, publicKey, unlock: () => null };
}

const byAgent = (index: number) => `the key /k${index} by the agent`;
const other = (index: number) => `the agent's key ${fingerprint(key(index).getPublicSSH())}`;
const USUAL = { identitiesOnly: false, canAsk: false };

function whats(files: KeyFile[], agent: AgentKey[], options = USUAL): string[] {
  return orderKeys(files, agent, options).offers.map(({ what }) => what);
}

test("as in OpenSSH: files whose keys the agent has, its other keys, the remaining files", () => {
  const files = [usable(1), locked(2), usable(3)];
  expect(whats(files, [held(4), held(3), held(2)])).toEqual([
    byAgent(3),
    byAgent(2),
    other(4),
    "the key /k1",
  ]);
});

test("only the files' keys if the configuration says so", () => {
  const found = orderKeys([usable(1), usable(2)], [held(4), held(2)], { ...USUAL, identitiesOnly: true });
  expect(found.offers.map(({ what }) => what)).toEqual([byAgent(2), "the key /k1"]);
  expect(found.tooMany).toBe(0);
});

test("never more than six, and the files' keys always fit", () => {
  const agent = [5, 6, 7, 8, 9, 10, 11, 0].map(held);
  const found = orderKeys([usable(1), usable(0)], agent, USUAL);
  expect(found.offers.map(({ what }) => what)).toEqual([
    byAgent(0),
    ...[5, 6, 7, 8].map(other),
    "the key /k1",
  ]);
  expect(found.tooMany).toBe(3);
  const files = [0, 1, 2, 3, 4, 5, 6, 7].map(usable);
  expect(whats(files, [held(9)])).toEqual([0, 1, 2, 3, 4, 5].map((index) => `the key /k${index}`));
});

test("a locked key is offered only if a person can be asked", () => {
  const files = [locked(1), locked(2, null)];
  expect(orderKeys(files, [], USUAL)).toMatchObject({ offers: [], unusable: files });
  const found = orderKeys(files, [], { ...USUAL, canAsk: true });
  expect(found.offers.map(({ by, key }) => [by, key === null])).toEqual([
    ["passphrase", false],
    ["passphrase", true],
  ]);
  expect(found.unusable).toEqual([]);
});

test("one key under two names is offered once", () => {
  const twice: KeyFile = { kind: "usable", path: "/again", key: key(1) };
  expect(whats([usable(1), twice, usable(1)], [])).toEqual(["the key /k1"]);
});

test("unusable files are listed, and agent keys that ssh2 does not know are skipped", () => {
  const half: KeyFile = { kind: "public-half", path: "/half", publicKey: key(1).getPublicSSH() };
  const gone: KeyFile = { kind: "missing", path: "/gone" };
  const hardware: AgentKey = { publicKey: Buffer.from("sk"), type: "sk-ssh-ed25519@openssh.com", key: null };
  expect(orderKeys([half, gone], [hardware], USUAL)).toMatchObject({ offers: [], unusable: [half, gone] });
  expect(whats([half, gone], [held(1)])).toEqual(["the key /half by the agent"]);
});
