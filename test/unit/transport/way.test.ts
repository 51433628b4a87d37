import { afterAll, beforeAll, expect, test } from "vitest";
import { createSshConfig, type SshConfig } from "../../../src/transport/config/ssh-config.js";
import type { SshAddress } from "../../../src/transport/connect-error.js";
import { findWay, stopsOf } from "../../../src/transport/way.js";
import { makeWorkspace, type Workspace } from "../../rig/workspace.js";

let home: Workspace;
let config: SshConfig;
let files = 0;

beforeAll(async () => {
  home = await makeWorkspace();
  const options = { homeDir: home.dir, agentSocket: null, hostKeys: null, onNote: () => {} };
  config = createSshConfig(options);
});
afterAll(() => home?.remove());

/** The stops on the way to gpu1, as `user@host:port`. */
async function stops(text: string, over: Partial<SshAddress> = {}): Promise<string[]> {
  const configFile = await home.write(`config-${files++}`, `${text}\nHost *\n User me\n`);
  const unsaid = { port: null, username: null, keyPath: null, transport: null };
  const address = { kind: "ssh", host: "gpu1", ...unsaid, configFile, ...over } as const;
  const way = await findWay(address, config.resolve);
  return stopsOf(way).map(({ username, host, port }) => `${username}@${host}:${port}`);
}

test.each<[string, string, string[]]>([
  ["no hop", "", ["me@gpu1:22"]],
  ["one hop", "Host gpu1\n ProxyJump a", ["me@a:22", "me@gpu1:22"]],
  [
    "several, each with its own configuration",
    "Host gpu1\n ProxyJump a,bob@b:2222\nHost a\n HostName 10.0.0.1\n Port 23",
    ["me@10.0.0.1:23", "bob@b:2222", "me@gpu1:22"],
  ],
  [
    "tokens",
    "Host gpu1\n HostName 10.0.0.5\n ProxyJump %r@j-%h:222",
    ["me@j-10.0.0.5:222", "me@10.0.0.5:22"],
  ],
  ["an address of version 6", "Host gpu1\n ProxyJump bob@[::1]:2222", ["bob@::1:2222", "me@gpu1:22"]],
  [
    "the first one's own jump host counts, and that one's too",
    "Host gpu1\n ProxyJump a,b\nHost a\n ProxyJump c\nHost c\n ProxyJump d",
    ["me@d:22", "me@c:22", "me@a:22", "me@b:22", "me@gpu1:22"],
  ],
  [
    "those of the others do not",
    "Host gpu1\n ProxyJump a,b\nHost b\n ProxyJump c",
    ["me@a:22", "me@b:22", "me@gpu1:22"],
  ],
  ["a hop for all but itself", "Host a\n ProxyJump none\nHost *\n ProxyJump a", ["me@a:22", "me@gpu1:22"]],
  [
    "one computer via itself, as another user",
    "Match originalhost gpu1 user bob\n ProxyJump none\nHost gpu1\n ProxyJump bob@gpu1",
    ["bob@gpu1:22", "me@gpu1:22"],
  ],
])("%s", async (_, text, expected) => {
  expect(await stops(text)).toEqual(expected);
});

test("the key and the user of the machine do not apply to its jump hosts", async () => {
  const configFile = await home.write("own", "Host gpu1\n ProxyJump a\n");
  const own = { port: 2222, username: "alice", keyPath: "/keys/own", transport: null };
  const { before } = await findWay({ kind: "ssh", host: "gpu1", ...own, configFile }, config.resolve);
  expect(before?.target).toMatchObject({ alias: "a", port: 22, configFile, hasOwnIdentities: false });
  expect(before?.target.username).not.toBe("alice");
});

test.each([
  ["Host gpu1\n ProxyJump a\nHost a\n ProxyJump gpu1", "gpu1: its jump hosts form a circle: gpu1, a, gpu1"],
  [
    "Host gpu1\n ProxyJump a\nHost a\n ProxyJump b\nHost b\n ProxyJump a",
    "gpu1: its jump hosts form a circle: gpu1, a, b, a",
  ],
])("a circle of jump hosts is reported", async (text, message) => {
  await expect(stops(text)).rejects.toMatchObject({ kind: "config", isRetryable: false, message });
});

test("a configuration that generates new names without end is refused", async () => {
  const error = await stops("ProxyJump x%n").catch((reason) => reason);
  expect(error).toMatchObject({ kind: "config" });
  expect(error.message).toMatch(/form a circle: gpu1, xgpu1, xxgpu1, /);
});
