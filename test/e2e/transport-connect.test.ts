// Logging in, and the reasons for failures, against real servers, keys and agents.

import { execFileSync, spawn } from "node:child_process";
import { lookup } from "node:dns/promises";
import { once } from "node:events";
import { chmod, copyFile, mkdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { createConnection, createServer } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { ConnectError, type SshAddress } from "../../src/transport/connect-error.js";
import type { ConnectOptions } from "../../src/transport/connect-options.js";
import { runScript } from "../../src/transport/script/run-script.js";
import { addressOf, connectFrom } from "../rig/connect.js";
import { startRelay } from "../rig/relay.js";
import { makeKey, startSshd, type TestHost } from "../rig/sshd.js";
import { until } from "../rig/until.js";
import { makeWorkspace, type Workspace } from "../rig/workspace.js";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

let host: TestHost;
let client: Workspace;
const notes: string[] = [];

beforeAll(async () => {
  [host, client] = await Promise.all([startSshd(), makeWorkspace()]);
});
beforeEach(async () => {
  notes.length = 0;
  await rm(client.path(".ssh"), { recursive: true, force: true });
});
afterAll(() => Promise.all([host?.stop(), client?.remove()]));

interface Circumstances extends Partial<ConnectOptions> {
  readonly signal?: AbortSignal;
  /** Lines of the user's ssh configuration. */
  readonly config?: string;
}

/** Connects, runs a script, closes. */
async function greet(over: Partial<SshAddress> = {}, options: Circumstances = {}): Promise<string> {
  const { signal, config, ...rest } = options;
  const configFile = config === undefined ? null : await client.write("config", config);
  const onNote = (note: string) => notes.push(note);
  const connect = connectFrom(client.dir, { onNote, ...rest });
  const session = await connect(addressOf(host, { configFile, transport: "ssh2", ...over }), signal);
  try {
    return (await runScript(session, "echo hello")).stdout;
  } finally {
    await session.close();
  }
}

async function refusal(over: Partial<SshAddress> = {}, options: Circumstances = {}): Promise<ConnectError> {
  const error = await greet(over, options).then(
    () => new Error("was let in"),
    (reason) => reason,
  );
  if (!(error instanceof ConnectError)) throw error;
  expect(error.message).not.toContain("\n");
  return error;
}

describe("the network", () => {
  test("a host name that does not exist", async () => {
    const error = await refusal({ host: "no-such-host.invalid", port: 22 });
    expect(error.message).toMatch(/^no-such-host\.invalid:22: /);
    // Without a name server it is unknown whether the name exists.
    if (error.kind !== "unreachable")
      expect([error.kind, error.isRetryable]).toEqual(["unknown-host", false]);
  });

  test.for(["ssh2", "openssh"] as const)(
    "the configuration's AddressFamily (%s)",
    async (transport, context) => {
      const hasName = await lookup("localhost").catch(() => null);
      if (hasName === null) return context.skip("nothing names localhost here, as on a minimal Debian");
      // It listens only on 127.0.0.1.
      const over = { host: "localhost", transport };
      expect(await greet(over, { config: "AddressFamily inet\n" })).toBe("hello\n");
      const error = await refusal(over, { config: "AddressFamily inet6\n" });
      expect(["refused", "unreachable", "unknown-host"]).toContain(error.kind);
    },
  );

  test("a port on which no server listens", async () => {
    const relay = await startRelay(host.port);
    await relay.stop();
    const error = await refusal({ port: relay.port });
    expect(error).toMatchObject({ kind: "refused", isRetryable: true });
    expect(error.message).toBe(`127.0.0.1:${relay.port}: nothing listens on that port`);
    expect(error.hint).toBe(
      `try it yourself: ssh -p ${relay.port} -i ${host.keyPath} ${host.username}@127.0.0.1`,
    );
  });

  test("a server that accepts the connection but sends nothing", async () => {
    const server = createServer(() => {}).listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as { port: number };
    const error = await refusal({ port }, { config: "ConnectTimeout 1\n" });
    expect(error).toMatchObject({ kind: "silent", isRetryable: true });
    server.close();
  });

  test("a server that closes the connection", async () => {
    const relay = await startRelay(host.port);
    relay.refuse();
    expect((await refusal({ port: relay.port })).isRetryable).toBe(true);
    await relay.stop();
  });

  test("a server with too many logins in progress", async () => {
    const busy = await startSshd({ config: ["MaxStartups 1"] });
    const waiting = createConnection({ port: busy.port, host: "127.0.0.1" });
    await once(waiting, "data");
    const error = await refusal({ port: busy.port });
    expect(error).toMatchObject({ isRetryable: true });
    waiting.destroy();
    await busy.stop();
  });

  test("a server that is not an ssh server", async () => {
    const server = createServer((socket) => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n")).listen(
      0,
      "127.0.0.1",
    );
    await once(server, "listening");
    const { port } = server.address() as { port: number };
    expect((await refusal({ port })).message).toMatch(/closed the connection|cannot agree/);
    server.close();
  });

  test("no common cipher", async () => {
    const modern = await startSshd({ config: ["KexAlgorithms sntrup761x25519-sha512@openssh.com"] });
    const error = await refusal({ port: modern.port });
    expect(error).toMatchObject({ kind: "protocol", isRetryable: false });
    await modern.stop();
  });

  test("connecting can be aborted at any time", async () => {
    const server = createServer(() => {}).listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as { port: number };
    const abort = new AbortController();
    const connecting = greet({ port }, { signal: abort.signal });
    server.once("connection", () => abort.abort(new Error("changed my mind")));
    await expect(connecting).rejects.toThrow("changed my mind");
    await expect(greet({}, { signal: abort.signal })).rejects.toThrow("changed my mind");
    server.close();
  });
});

describe("the user's key", () => {
  test("a key that is not accepted: one connection, not retryable", async () => {
    const relay = await startRelay(host.port);
    makeKey(client.path("stranger"));
    const error = await refusal({ port: relay.port, keyPath: client.path("stranger") });
    expect(error).toMatchObject({ kind: "auth", isRetryable: false });
    expect(error.message).toContain(
      `does not let ${host.username} in; tried: the key ${client.path("stranger")} (refused)`,
    );
    expect(relay.connections()).toBe(1);
    await relay.stop();
  });

  test("a user that does not exist", async () => {
    expect((await refusal({ username: "no-such-user" })).kind).toBe("auth");
  });

  test("a key file that is missing, is no key, or cannot be read by ssh2", async () => {
    const missing = await refusal({ keyPath: client.path("missing") });
    expect(missing).toMatchObject({ kind: "key-file", isRetryable: false });
    expect(missing.message).toContain(`there is no key file ${client.path("missing")}`);
    const garbage = await refusal({ keyPath: await client.write("garbage", "not a key\n") });
    expect(garbage.kind).toBe("key-file");
    expect(garbage.message).toContain(client.path("garbage"));
    const directory = await refusal({ keyPath: client.dir });
    expect(directory.message).toContain(client.dir);
  });

  test("without keyPath, the default files in ~/.ssh are tried one after the other on one connection", async () => {
    const relay = await startRelay(host.port);
    await mkdir(client.path(".ssh"), { mode: 0o700 });
    makeKey(client.path(".ssh", "id_ed25519"));
    await copyFile(host.keyPath, client.path(".ssh", "id_rsa")); // the name counts here
    expect(await greet({ keyPath: null, port: relay.port })).toBe("hello\n");
    expect(relay.connections()).toBe(1);
    await relay.stop();
  });

  test("no key anywhere", async () => {
    const error = await refusal({ keyPath: null });
    expect(error).toMatchObject({ kind: "auth", isRetryable: false });
    expect(error.hint).toContain("ssh-keygen -t ed25519");
  });
});

describe("a key with a passphrase", () => {
  let socket = "";
  let locked = "";
  const agent = { pid: 0 };

  beforeAll(async () => {
    socket = client.path("agent.sock");
    const child = spawn("ssh-agent", ["-D", "-a", socket], { stdio: ["ignore", "pipe", "inherit"] });
    agent.pid = child.pid as number;
    await once(child.stdout, "data");
    locked = client.path("locked");
    makeKey(locked, { passphrase: "open sesame" });
    const allowed = join(host.dir, "authorized_keys");
    await writeFile(allowed, (await readFile(allowed, "utf8")) + (await readFile(`${locked}.pub`, "utf8")));
  });
  afterAll(() => process.kill(agent.pid));

  function addToAgent(path: string, passphrase = ""): void {
    const askpass = client.path("askpass");
    execFileSync("ssh-add", ["-q", path], {
      env: {
        ...process.env,
        SSH_AUTH_SOCK: socket,
        SSH_ASKPASS: askpass,
        SSH_ASKPASS_REQUIRE: "force",
        PW: passphrase,
      },
    });
  }

  test("without an agent, the command that fixes it is named", async () => {
    const error = await refusal({ keyPath: locked });
    expect(error).toMatchObject({ kind: "key-file", isRetryable: false });
    expect(error.message).toContain(`the key ${locked} has a passphrase, and there is no agent`);
    expect(error.hint).toBe(`eval "$(ssh-agent)"; ssh-add ${locked}`);
    expect((await refusal({ keyPath: locked }, { agentSocket: "/no/such/socket" })).hint).toContain(
      "ssh-add",
    );
  });

  test("with an agent that does not have it", async () => {
    const error = await refusal({ keyPath: locked }, { agentSocket: socket });
    expect(error.message).toContain("the agent does not hold it");
    expect(error.hint).toBe(`ssh-add ${locked}`);
    const half = await refusal({ keyPath: `${locked}.pub` }, { agentSocket: socket });
    expect(half.message).toContain("is only the public half, and the agent does not hold it");
    expect(half.hint).toBe(`ssh-add ${locked}`);
  });

  test("with an agent that has it, among more keys than a server allows", async () => {
    for (let i = 0; i < 8; i++) {
      makeKey(client.path(`other-${i}`));
      addToAgent(client.path(`other-${i}`));
    }
    await writeFile(client.path("askpass"), '#!/bin/sh\necho "$PW"\n');
    await chmod(client.path("askpass"), 0o755);
    addToAgent(locked, "open sesame");
    expect(await greet({ keyPath: locked }, { agentSocket: socket })).toBe("hello\n");
    // The public half alone also names the key.
    expect(await greet({ keyPath: `${locked}.pub` }, { agentSocket: socket })).toBe("hello\n");
  });

  test("without keyPath, never more keys than a server allows, on one connection", async () => {
    const relay = await startRelay(host.port);
    const error = await refusal({ keyPath: null, port: relay.port }, { agentSocket: socket });
    expect(error).toMatchObject({ kind: "auth" });
    expect(error.message.match(/\(refused\)/g)).toHaveLength(6);
    expect(relay.connections()).toBe(1);
    await mkdir(client.path(".ssh"), { recursive: true });
    await copyFile(host.keyPath, client.path(".ssh", "id_ed25519"));
    expect(await greet({ keyPath: null }, { agentSocket: socket })).toBe("hello\n");
    await relay.stop();
  });

  test("an agent that never answers is skipped", async () => {
    const deaf = createServer(() => {}).listen(client.path("deaf.sock"));
    const error = await refusal({ keyPath: locked }, { agentSocket: client.path("deaf.sock") });
    expect(error.kind).toBe("key-file");
    deaf.close();
  });
});

describe("the machine's key", () => {
  const knownHosts = () => client.path(".ssh", "known_hosts");

  test("a new one is accepted, reported and stored, readable only by its owner", async () => {
    await greet();
    const fingerprint = execFileSync("ssh-keygen", ["-lf", join(host.dir, "host_key.pub")], {
      encoding: "utf8",
    });
    expect(notes).toEqual([
      `new host [127.0.0.1]:${host.port}, key ssh-ed25519 ${fingerprint.split(" ")[1]}: added to ${knownHosts()}`,
    ]);
    expect((await stat(knownHosts())).mode & 0o777).toBe(0o600);
    expect((await stat(client.path(".ssh"))).mode & 0o777).toBe(0o700);
    const found = execFileSync("ssh-keygen", ["-F", `[127.0.0.1]:${host.port}`, "-f", knownHosts()]);
    expect(found.toString()).toContain("found: line 1");
    await greet();
    expect(notes).toHaveLength(1);
  });

  test("lines that ssh itself wrote are understood, also hashed ones", async () => {
    await mkdir(client.path(".ssh"));
    const key = (await readFile(join(host.dir, "host_key.pub"), "utf8")).split(" ").slice(0, 2).join(" ");
    await writeFile(knownHosts(), `[127.0.0.1]:${host.port} ${key}\n`);
    execFileSync("ssh-keygen", ["-q", "-H", "-f", knownHosts()], { stdio: "ignore" });
    await greet();
    expect(notes).toEqual([]);
  });

  test("a last line without a newline is not damaged", async () => {
    await mkdir(client.path(".ssh"));
    await writeFile(knownHosts(), "elsewhere ssh-ed25519 AAAA");
    await greet();
    expect((await readFile(knownHosts(), "utf8")).split("\n").map((line) => line.split(" ")[0])).toEqual([
      "elsewhere",
      `[127.0.0.1]:${host.port}`,
      "",
    ]);
  });

  test("the lines of many new hosts at once do not mix", async () => {
    const relays = await Promise.all(Array.from({ length: 8 }, () => startRelay(host.port)));
    await Promise.all(relays.map(({ port }) => greet({ port })));
    const lines = (await readFile(knownHosts(), "utf8")).trim().split("\n");
    const ports = relays.map(({ port }) => `[127.0.0.1]:${port}`);
    expect(lines.map((line) => line.split(" ")[0]).sort()).toEqual(ports.sort());
    await Promise.all(relays.map((relay) => relay.stop()));
  });

  test("a new host under several names at once is added once, and reported once", async () => {
    const connect = connectFrom(client.dir, { onNote: (note) => notes.push(note) });
    const address = addressOf(host, { transport: "ssh2" });
    const sessions = await Promise.all([connect(address), connect(address), connect(address)]);
    await Promise.all(sessions.map((session) => session.close()));
    expect((await readFile(knownHosts(), "utf8")).match(/^\[127/gm)).toHaveLength(1);
    expect(notes).toHaveLength(1);
  });

  test("a changed one is refused, and the suggested command fixes it", async () => {
    makeKey(client.path("former"));
    await mkdir(client.path(".ssh"));
    const former = (await readFile(client.path("former.pub"), "utf8")).split(" ").slice(0, 2).join(" ");
    await writeFile(knownHosts(), `elsewhere ${former}\n[127.0.0.1]:${host.port} ${former}\n`);
    const error = await refusal();
    expect(error).toMatchObject({ kind: "host-key", isRetryable: false });
    expect(error.message).toMatch(
      /its host key is now ssh-ed25519 SHA256:[\w+/]{43}, not the ssh-ed25519 SHA256:[\w+/]{43} in /,
    );
    expect(error.message).toContain(`${knownHosts()}:2`);
    const fix = /ssh-keygen .*/.exec(error.hint)?.[0] ?? "";
    expect(fix).toBe(`ssh-keygen -R '[127.0.0.1]:${host.port}' -f ${knownHosts()}`);
    execFileSync("sh", ["-c", fix], { stdio: "ignore" });
    expect(await greet()).toBe("hello\n");
  });

  test("a host with a changed one never sees the user's key", async () => {
    makeKey(client.path("former2"));
    await mkdir(client.path(".ssh"));
    await writeFile(knownHosts(), `* ${await readFile(client.path("former2.pub"), "utf8")}`);
    const before = host.log().length;
    expect((await refusal()).kind).toBe("host-key");
    await until("sshd has noticed", () => host.log().length > before);
    expect(host.log().slice(before)).not.toMatch(/Accepted|Failed/);
  });

  test("of several keys of a machine, the known type is requested", async () => {
    const other = await makeWorkspace();
    makeKey(other.path("rsa"), { type: "rsa" });
    const both = await startSshd({ config: [`HostKey ${other.path("rsa")}`] });
    await mkdir(client.path(".ssh"));
    const rsa = (await readFile(other.path("rsa.pub"), "utf8")).split(" ").slice(0, 2).join(" ");
    await writeFile(knownHosts(), `[127.0.0.1]:${both.port} ${rsa}\n`);
    expect(await greet({ port: both.port, keyPath: both.keyPath })).toBe("hello\n");
    expect(notes).toEqual([]);
    await Promise.all([both.stop(), other.remove()]);
  });

  test("the system's file also counts, and a revoked key is refused", async () => {
    const key = (await readFile(join(host.dir, "host_key.pub"), "utf8")).split(" ").slice(0, 2).join(" ");
    const trusts = await client.write("system1", `[127.0.0.1]:${host.port} ${key}\n`);
    await greet({}, { config: `GlobalKnownHostsFile ${trusts}\n` });
    expect(notes).toEqual([]);
    const revokes = await client.write("system2", `@revoked * ${key}\n`);
    const error = await refusal({}, { config: `GlobalKnownHostsFile ${trusts} ${revokes}\n` });
    expect(error.message).toContain(`is revoked by ${revokes}:1`);
  });

  test("a home that is not writable is reported, and is no error", async () => {
    const file = await client.write("a-file", "");
    expect(await greet({}, { homeDir: file })).toBe("hello\n");
    expect(notes[0]).toContain(`could not be added to ${file}/.ssh/known_hosts`);
  });
});
