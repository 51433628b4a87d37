import { mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ConnectError } from "../../../src/transport/connect-error.js";
import { loadHostKeyCheck } from "../../../src/transport/known-hosts-file.js";

const ADDRESS = { kind: "ssh", host: "GPU1", port: 22, username: "me", keyPath: null } as const;

let homeDir = "";
beforeEach(async () => {
  homeDir = await mkdtemp(join(tmpdir(), "sshoal-home-"));
});
afterEach(() => rm(homeDir, { recursive: true, force: true }));

function key(name: string): Buffer {
  const type = Buffer.from("ssh-ed25519");
  const length = Buffer.alloc(4);
  length.writeUInt32BE(type.length);
  return Buffer.concat([length, type, Buffer.from(name)]);
}

function load(notes: string[] = []) {
  return loadHostKeyCheck(ADDRESS, { homeDir, systemKnownHosts: [], onNote: (note) => notes.push(note) });
}

test("a new host is kept only once it has proven its key, and only once", async () => {
  const notes: string[] = [];
  const hostKeys = await load(notes);
  const file = join(homeDir, ".ssh", "known_hosts");
  hostKeys.check(key("a"));
  await expect(readFile(file)).rejects.toThrow("ENOENT");
  await hostKeys.remember();
  hostKeys.check(key("a"));
  await hostKeys.remember();
  expect(await readFile(file, "utf8")).toBe(`gpu1 ssh-ed25519 ${key("a").toString("base64")}\n`);
  expect(notes).toHaveLength(1);
});

test("a new host cannot change its key on the same connection", async () => {
  const hostKeys = await load();
  hostKeys.check(key("a"));
  expect(() => hostKeys.check(key("b"))).toThrow(ConnectError);
});

test("a known_hosts that cannot be read lets nobody in", async () => {
  await mkdir(join(homeDir, ".ssh", "known_hosts"), { recursive: true });
  await expect(load()).rejects.toMatchObject({ kind: "host-key", isRetryable: false });
});
