// Sessions over the system's ssh, where they differ from others: what only it can do, and its processes.

import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync } from "node:fs";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { ConnectError, type SshAddress } from "../../src/transport/connect-error.js";
import type { ConnectOptions } from "../../src/transport/connect-options.js";
import type { Ask } from "../../src/transport/login/ask-person.js";
import { runScript } from "../../src/transport/script/run-script.js";
import type { Session } from "../../src/transport/session.js";
import { LIGHT_NO_GPU, waitFor } from "../rig/batch.js";
import { spawnCommand } from "../rig/command.js";
import { addressOf, connectFrom } from "../rig/connect.js";
import { commandOf, descendantsOf, nameOf, pidsWithHome } from "../rig/processes.js";
import { type Relay, startRelay } from "../rig/relay.js";
import { makeKey, startSshd, type TestHost } from "../rig/sshd.js";
import { until } from "../rig/until.js";
import { makeWorkspace, type Workspace } from "../rig/workspace.js";

let host: TestHost;
let relay: Relay;
let client: Workspace;
const notes: string[] = [];
const sessions: Session[] = [];

beforeAll(async () => {
  const ca = await makeWorkspace();
  makeKey(ca.path("ca"));
  host = await startSshd({ config: [`TrustedUserCAKeys ${ca.path("ca.pub")}`] });
  execFileSync("cp", [ca.path("ca"), ca.path("ca.pub"), host.dir]);
  relay = await startRelay(host.port);
});
beforeEach(async () => {
  client = await makeWorkspace();
  notes.length = 0;
});
afterEach(async () => {
  await Promise.all(sessions.splice(0).map((session) => session.close()));
  await client.remove();
});
afterAll(async () => {
  await relay?.stop();
  await host?.stop();
});

async function open(
  over: Partial<SshAddress> = {},
  options: Partial<ConnectOptions> = {},
  signal?: AbortSignal,
): Promise<Session> {
  const connect = connectFrom(client.dir, { onNote: (note) => notes.push(note), ...options });
  const session = await connect(addressOf(host, { transport: "openssh", ...over }), signal);
  sessions.push(session);
  return session;
}

async function refusal(
  over: Partial<SshAddress> = {},
  options: Partial<ConnectOptions> = {},
): Promise<ConnectError> {
  const error = await open(over, options).then(
    () => new Error("was let in"),
    (reason) => reason,
  );
  if (!(error instanceof ConnectError)) throw error;
  expect(error.message).not.toContain("\n");
  return error;
}

/** The ssh processes of this test file, with the shells that watch them. */
function sshPids(): number[] {
  return descendantsOf(process.pid).filter((pid) => /(^|\0)ssh\0/.test(commandOf(pid)));
}

function socketDirs(): string[] {
  return readdirSync(tmpdir()).filter(
    (name) => /^sshoal-\w{6}$/.test(name) && existsSync(join(tmpdir(), name, "c")),
  );
}

async function hostKey(): Promise<string> {
  const [type, key] = (await readFile(join(host.dir, "host_key.pub"), "utf8")).split(" ");
  return `${type} ${key}`;
}

function fingerprintOf(file: string): string {
  return execFileSync("ssh-keygen", ["-lf", file], { encoding: "utf8" }).split(" ")[1] ?? "";
}

describe("the processes", () => {
  test("after close() none is left, and no file", async () => {
    const before = socketDirs();
    const session = await open();
    const running = await session.exec("echo on; sleep 1000");
    await once(running.stdout, "data");
    expect(sshPids().length).toBeGreaterThan(1);
    expect(socketDirs().length).toBeGreaterThan(before.length);
    await session.close();
    await until("all have ended", () => sshPids().length === 0);
    expect(socketDirs()).toEqual(before);
  });

  test("after kill -9 of the client none is left", async () => {
    const home = client.path("home");
    await mkdir(home);
    await client.write("jobs.sh", `${waitFor(client.path("go"))}\n`);
    const file = await host.machineFile("max_jobs: 1\ntransport: openssh");
    const command = spawnCommand(["jobs.sh", "--machines", file, ...LIGHT_NO_GPU], { cwd: client.dir, home });
    await command.until(({ stdout }) => stdout().includes("started: jobs.sh.1"));
    const ours = pidsWithHome(home);
    expect(ours.map(nameOf)).toContain("ssh");
    command.child.kill("SIGKILL");
    await command.ended;
    await until("all have ended", () => pidsWithHome(home).length === 0);
    await until("no socket is left", () => !ours.some((pid) => existsSync(`/proc/${pid}`)));
    await client.write("go", "");
  });

  test("connecting can be aborted at any time, and leaves nothing", async () => {
    const server = createServer(() => {}).listen(0, "127.0.0.1");
    await once(server, "listening");
    const address = server.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    const abort = new AbortController();
    const opening = open({ port }, {}, abort.signal);
    server.once("connection", () => abort.abort(new Error("changed my mind")));
    await expect(opening).rejects.toThrow("changed my mind");
    expect(sshPids()).toEqual([]);
    await expect(open({}, {}, abort.signal)).rejects.toThrow("changed my mind");
    server.close();
  });

  test("if the one that holds the connection is killed, the session is gone and its scripts are lost", async () => {
    const session = await open();
    const running = await session.exec("echo on; sleep 1000");
    running.stderr.resume();
    await once(running.stdout.resume(), "data");
    const holder = sshPids().find((pid) => nameOf(pid) === "ssh" && commandOf(pid).includes("\0-M\0"));
    process.kill(holder ?? 0, "SIGKILL");
    expect(await session.gone).toBe("its ssh process ended");
    expect(await running.ended).toEqual({ kind: "lost", reason: "its ssh process ended" });
    expect((await runScript(session, "echo never")).end.kind).toBe("lost");
  });

  test("if the one of a script is killed, only that script is lost", async () => {
    const session = await open();
    const running = await session.exec("echo on; cat");
    running.stderr.resume();
    await once(running.stdout.resume(), "data");
    const one = sshPids().find((pid) => nameOf(pid) === "ssh" && !commandOf(pid).includes("\0-M\0"));
    process.kill(one ?? 0, "SIGKILL");
    expect(await running.ended).toEqual({ kind: "lost", reason: "its ssh process was killed" });
    expect((await runScript(session, "echo next")).stdout).toBe("next\n");
  });

  test("a server that allows one session at a time is asked again until there is room", async () => {
    const narrow = await startSshd({ config: ["MaxSessions 1"] });
    const session = await open(addressOf(narrow, { transport: "openssh" }));
    const answers = await Promise.all(Array.from({ length: 6 }, (_, i) => runScript(session, `echo ${i}`)));
    expect(answers.map(({ stdout }) => Number(stdout))).toEqual([0, 1, 2, 3, 4, 5]);
    await session.close();
    await narrow.stop();
  });
});

describe("the link", () => {
  test("a cut connection loses its scripts, with the reason", async () => {
    const session = await open({ port: relay.port });
    const running = await session.exec("echo on; exec sleep 1000");
    running.stderr.resume();
    await once(running.stdout.resume(), "data");
    relay.cut();
    expect(await session.gone).toMatch(/reset|closed|Broken pipe/);
    expect(await running.ended).toEqual({ kind: "lost", reason: await session.gone });
    expect((await runScript(session, "true")).end.kind).toBe("lost");
  });

  test("output that is cut off is lost, even if the exit code came first", async () => {
    const session = await open({ port: relay.port });
    // The background process holds stdout open: sshd reports the exit, but not the end of the output.
    const running = await session.exec("(sleep 1000; echo more) & echo some; exit 0");
    running.stderr.resume();
    await once(running.stdout.resume(), "data");
    await runScript(session, "true");
    relay.cut();
    expect(await running.ended).toMatchObject({ kind: "lost" });
  });

  test("keepalives detect a silent connection", async () => {
    const configFile = await client.write("config", "ServerAliveInterval 1\nServerAliveCountMax 1\n");
    const session = await open({ port: relay.port, configFile });
    relay.pause();
    expect(await session.gone).toMatch(/^Timeout, server 127\.0\.0\.1 not responding/);
    relay.resume();
  });

  test("close() does not wait for a silent machine", async () => {
    const session = await open({ port: relay.port });
    relay.pause();
    await session.close();
    expect(await session.gone).toBe("closed on this side");
    expect(sshPids()).toEqual([]);
    relay.resume();
  });
});

describe("features that only the system's ssh has are left to it", () => {
  test("a user's certificate", async () => {
    await mkdir(client.path(".ssh"));
    const key = client.path(".ssh/id_ed25519");
    makeKey(key);
    execFileSync("ssh-keygen", [
      "-q",
      "-s",
      join(host.dir, "ca"),
      "-I",
      "me",
      "-n",
      host.username,
      `${key}.pub`,
    ]);
    const session = await open({ keyPath: null, transport: null });
    expect(session.about).toEqual({
      transport: "openssh",
      why: `the key ${key} has a certificate`,
      login: `the certificate of the key ${key}`,
      hostKey: `ssh-ed25519 ${fingerprintOf(join(host.dir, "host_key.pub"))}`,
      via: [],
    });
    expect((await runScript(session, "echo hello")).stdout).toBe("hello\n");
  });

  test("a host key signed by an authority, even if only known hosts are accepted", async () => {
    const certificate = join(host.dir, "host_key-cert.pub");
    const ca = join(host.dir, "ca");
    const signing = ["-q", "-s", ca, "-I", "box", "-h", "-n", "127.0.0.1", join(host.dir, "host_key.pub")];
    execFileSync("ssh-keygen", signing);
    const signed = await startSshd({
      config: [`HostKey ${join(host.dir, "host_key")}`, `HostCertificate ${certificate}`],
    });
    await client.write(
      ".ssh/known_hosts",
      `@cert-authority 127.0.0.1,[127.0.0.1]:* ${await readFile(`${ca}.pub`)}`,
    );
    const { about } = await open(addressOf(signed), { hostKeys: "strict" });
    expect(about).toMatchObject({
      transport: "openssh",
      why: `${client.path(".ssh/known_hosts")}:1 lists it with a certificate authority`,
      hostKey: expect.stringMatching(/^ssh-ed25519-cert-v01@openssh\.com SHA256:/),
    });
    expect(notes).toEqual([]);
    await signed.stop();
  });

  test("a ProxyCommand, which is reported if it fails", async () => {
    const pipe = await client.write(
      "pipe",
      `#!/usr/bin/env node\nconst s = require("net").connect(process.argv[3], process.argv[2]);\nprocess.stdin.pipe(s).pipe(process.stdout);\n`,
    );
    const lines = (command: string) => `Host box\n  HostName 127.0.0.1\n  ProxyCommand ${command}\n`;
    const over = { host: "box", transport: null };
    const configFile = await client.write("config", lines(`${pipe} %h %p`));
    const session = await open({ ...over, configFile });
    expect(session.about).toMatchObject({
      transport: "openssh",
      why: expect.stringContaining("ProxyCommand"),
    });
    expect((await runScript(session, "echo hello")).stdout).toBe("hello\n");

    await client.write("config", lines("sh -c 'echo the gate is shut >&2; exit 1'"));
    const error = await refusal({ ...over, configFile });
    expect(error).toMatchObject({ kind: "refused", isRetryable: true });
    expect(error.message).toBe(
      `box (127.0.0.1:${host.port}): its ProxyCommand ended before the login was done, it printed: the gate is shut`,
    );
  });

  test("machines behind a jump host share the connection to it", async () => {
    const before = relay.connections();
    const configFile = await client.write(
      "config",
      `Host gate\n  HostName 127.0.0.1\n  Port ${relay.port}\nHost box*\n  HostName 127.0.0.1\n  Port ${host.port}\n  ProxyJump gate\nHost *\n  User ${host.username}\n  IdentityFile ${host.keyPath}\n`,
    );
    const connect = connectFrom(client.dir);
    const boxes = await Promise.all(
      ["box1", "box2", "box3"].map((name) =>
        connect(
          addressOf(host, {
            host: name,
            port: null,
            username: null,
            keyPath: null,
            configFile,
            transport: "openssh",
          }),
        ),
      ),
    );
    sessions.push(...boxes);
    expect(relay.connections()).toBe(before + 1);
    const answers = await Promise.all(boxes.map((box) => runScript(box, "echo hello")));
    expect(answers.map(({ stdout }) => stdout)).toEqual(["hello\n", "hello\n", "hello\n"]);
    expect(boxes.map(({ about }) => about.via)).toEqual([["gate"], ["gate"], ["gate"]]);
    relay.cut();
    await Promise.all(boxes.map(({ gone }) => gone));
  });
});

describe("the user's key", () => {
  test("one that is not accepted: one connection, not retryable, and each key with its outcome", async () => {
    const before = relay.connections();
    await mkdir(client.path(".ssh"));
    makeKey(client.path(".ssh/id_rsa"));
    makeKey(client.path(".ssh/id_ed25519"), { passphrase: "secret" });
    const error = await refusal({ port: relay.port, keyPath: null });
    expect(error).toMatchObject({ kind: "auth", isRetryable: false });
    expect(error.message).toBe(
      `127.0.0.1:${relay.port}: does not let ${host.username} in; tried: the key ${client.path(".ssh/id_rsa")} (refused), the key ${client.path(".ssh/id_ed25519")} (refused); the machine accepts publickey`,
    );
    expect(relay.connections()).toBe(before + 1);
  });

  test("one with a passphrase, and no person to ask", async () => {
    const key = await lockedKey();
    const error = await refusal({ keyPath: key });
    expect(error).toMatchObject({ kind: "auth", isRetryable: false });
    expect(error.message).toContain(`the key ${key} (has a passphrase, and there is no agent)`);
    expect(error.hint).toBe(`eval "$(ssh-agent)"; ssh-add ${key}`);
  });

  test("a passphrase is asked for once, even if many machines want it, and again if it was wrong", async () => {
    const keyPath = await lockedKey();
    const answers = ["not this one", "open sesame"];
    const asked: string[] = [];
    const ask: Ask = {
      async passphrase(prompt) {
        asked.push(prompt);
        return answers.shift() ?? null;
      },
    };
    const connect = connectFrom(client.dir, { ask });
    const address = addressOf(host, { keyPath, transport: "openssh" });
    sessions.push(...(await Promise.all([connect(address), connect(address)])));
    const question = `Enter passphrase for key '${keyPath}': `;
    expect(asked).toEqual([question, `Wrong passphrase. ${question}`]);
    sessions.push(await connect(address));
    expect(asked).toHaveLength(2);
  });

  test("a person who gives no answer is not asked again", async () => {
    const keyPath = await lockedKey();
    let count = 0;
    const ask: Ask = {
      async passphrase() {
        count++;
        return null;
      },
    };
    const error = await refusal({ keyPath }, { ask });
    expect(error).toMatchObject({ kind: "auth", isRetryable: false });
    expect(count).toBe(1);
  });

  async function lockedKey(): Promise<string> {
    const key = client.path("locked");
    makeKey(key, { passphrase: "open sesame" });
    const allowed = join(host.dir, "authorized_keys");
    await writeFile(allowed, (await readFile(allowed, "utf8")) + (await readFile(`${key}.pub`, "utf8")));
    return key;
  }

  test("one that other accounts can read, is no key, or is missing", async () => {
    const missing = await refusal({ keyPath: client.path("missing") });
    expect(missing.message).toContain(`the key ${client.path("missing")} (does not exist)`);
    const garbage = await client.write("garbage", "no key at all\n");
    await expect(refusal({ keyPath: garbage })).resolves.toMatchObject({
      kind: "auth",
      hint: `chmod 600 ${garbage}`,
    });
    execFileSync("chmod", ["600", garbage]);
    const error = await refusal({ keyPath: garbage });
    expect(error.message).toContain(`the key ${garbage} (ssh cannot read it)`);
  });
});

describe("the machine's key", () => {
  const knownHosts = () => client.path(".ssh/known_hosts");

  test("a new one is accepted, reported and stored", async () => {
    await open();
    const key = `ssh-ed25519 ${fingerprintOf(join(host.dir, "host_key.pub"))}`;
    expect(notes).toEqual([`new host [127.0.0.1]:${host.port}, key ${key}: added to ${knownHosts()}`]);
    expect(await readFile(knownHosts(), "utf8")).toContain(await hostKey());
    await open();
    expect(notes).toHaveLength(1);
  });

  test("a home that is not writable is reported, and is no error", async () => {
    const homeDir = await client.write("a-file", "");
    await open({}, { homeDir });
    expect(notes).toEqual([expect.stringContaining(`could not be added to ${homeDir}/.ssh/known_hosts`)]);
  });

  test("a changed one is refused, and the suggested command fixes it", async () => {
    makeKey(client.path("former"));
    const former = (await readFile(client.path("former.pub"), "utf8")).split(" ").slice(0, 2).join(" ");
    await client.write(".ssh/known_hosts", `elsewhere ${former}\n[127.0.0.1]:${host.port} ${former}\n`);
    const error = await refusal();
    expect(error).toMatchObject({ kind: "host-key", isRetryable: false });
    expect(error.message).toBe(
      `127.0.0.1:${host.port}: its host key is now ssh-ed25519 ${fingerprintOf(join(host.dir, "host_key.pub"))}, not the one in ${knownHosts()}:2`,
    );
    const fix = /ssh-keygen .*/.exec(error.hint)?.[0] ?? "";
    execFileSync("sh", ["-c", fix], { stdio: "ignore" });
    await open();
  });

  test("an unknown one is refused if only known hosts are accepted, and a revoked one always", async () => {
    const strict = await refusal({}, { hostKeys: "strict" });
    expect(strict).toMatchObject({ kind: "host-key", isRetryable: false });
    expect(strict.message).toContain(
      "is not in known_hosts, and only known hosts are accepted; its key is ssh-ed25519 SHA256:",
    );
    expect(existsSync(knownHosts())).toBe(false);
    await client.write(".ssh/known_hosts", `@revoked * ${await hostKey()}\n`);
    const revoked = await refusal();
    expect(revoked.kind).toBe("host-key");
    expect(revoked.message).toMatch(/its host key ssh-ed25519 SHA256:\S+ is revoked$/);
    await rm(knownHosts());
  });
});
