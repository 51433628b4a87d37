// Machines behind jump hosts, with a real server for each stop.

import { execFileSync } from "node:child_process";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import type { Connect } from "../../src/transport/connect.js";
import { ConnectError, type SshAddress } from "../../src/transport/connect-error.js";
import { runScript } from "../../src/transport/script/run-script.js";
import type { Session } from "../../src/transport/session.js";
import { connectFrom } from "../rig/connect.js";
import { type Relay, startRelay } from "../rig/relay.js";
import { makeKey, startSshd, type TestHost } from "../rig/sshd.js";
import { until } from "../rig/until.js";
import { makeWorkspace, type Workspace } from "../rig/workspace.js";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 });

let [outer, inner, machine]: TestHost[] = [];
let home: Workspace;
/** In front of the outer jump host, and of the inner one. */
let relays: { outer: Relay; inner: Relay };
const sessions: Session[] = [];

beforeAll(async () => {
  [outer, inner, machine] = await Promise.all(
    ["outer", "inner", "machine"].map((name) => startSshd({ name, config: ["LogLevel VERBOSE"] })),
  );
  home = await makeWorkspace();
});
beforeEach(async () => {
  await rm(home.path(".ssh"), { recursive: true, force: true });
  relays = { outer: await startRelay(at(outer).port), inner: await startRelay(at(inner).port) };
});
afterEach(async () => {
  await Promise.all(sessions.splice(0).map((session) => session.close()));
  await Promise.all([relays.outer.stop(), relays.inner.stop()]);
});
afterAll(() => Promise.all([outer?.stop(), inner?.stop(), machine?.stop(), home?.remove()]));

function at(host: TestHost | undefined): TestHost {
  if (host === undefined) throw new Error("not started");
  return host;
}

/** A block of ~/.ssh/config. */
function block(
  alias: string,
  host: TestHost | undefined,
  lines: readonly string[] = [],
  port = at(host).port,
): string {
  const { username, keyPath } = at(host);
  const usual = ["HostName 127.0.0.1", `Port ${port}`, `User ${username}`, `IdentityFile ${keyPath}`];
  return [`Host ${alias}`, ...lines, ...usual].join("\n  ");
}

/** ~/.ssh/config: outer, inner behind it, and the test's additions. */
async function configure(...blocks: readonly string[]): Promise<Connect> {
  const usual = [
    block("outer", outer, [], relays.outer.port),
    block("inner", inner, ["ProxyJump outer"], relays.inner.port),
    block("gpu*", machine, ["ProxyJump inner"]),
  ];
  await home.write(".ssh/config", [...blocks, ...usual, "IdentitiesOnly yes", ""].join("\n"));
  const connect = connectFrom(home.dir);
  return async (address, signal) => {
    const session = await connect(address, signal);
    sessions.push(session);
    return session;
  };
}

function alias(host: string): SshAddress {
  const unsaid = { port: null, username: null, keyPath: null, configFile: null, transport: null };
  return { kind: "ssh", host, ...unsaid };
}

async function refusal(connecting: Promise<unknown>): Promise<ConnectError> {
  const error = await connecting.then(
    () => new Error("was let in"),
    (reason) => reason,
  );
  if (!(error instanceof ConnectError)) throw error;
  expect(error.message).not.toContain("\n");
  return error;
}

/** A key that no server knows. */
async function makeStranger(): Promise<string> {
  const path = home.path("stranger");
  await rm(path, { force: true });
  makeKey(path);
  return path;
}

/** How many logins a server has seen since it was started. */
function logins(host: TestHost | undefined): number {
  return (
    at(host)
      .log()
      .match(/^Accepted publickey/gm)?.length ?? 0
  );
}

describe("two hops", () => {
  test("the machine is reached, and its key, host key and route are known", async () => {
    const connect = await configure();
    const session = await connect(alias("gpu1"));
    expect((await runScript(session, "pwd")).stdout).toBe(`${at(machine).homeDir}\n`);
    const shown = execFileSync("ssh-keygen", ["-lf", join(at(machine).dir, "host_key.pub")], {
      encoding: "utf8",
    });
    expect(session.about).toMatchObject({
      transport: "ssh2",
      why: null,
      via: ["outer", "inner"],
      hostKey: `ssh-ed25519 ${shown.split(" ")[1]}`,
      login: expect.stringContaining(at(machine).keyPath),
    });
    const known = await readFile(home.path(".ssh/known_hosts"), "utf8");
    const ports = [relays.outer.port, relays.inner.port, at(machine).port];
    expect(
      known
        .match(/(?<=^\[127\.0\.0\.1\]:)\d+/gm)
        ?.map(Number)
        .sort(),
    ).toEqual(ports.sort());
  });

  test("another configuration file also counts for the jump hosts", async () => {
    const text = [
      block("outer", outer, [], relays.outer.port),
      block("far", machine, ["ProxyJump outer", "StrictHostKeyChecking yes"]),
    ];
    const configFile = await home.write("other", `${text.join("\n")}\n`);
    await home.write(".ssh/config", "Host outer\n  Port 1\n");
    const connect = connectFrom(home.dir);
    const error = await refusal(connect({ ...alias("far"), configFile }));
    expect(error).toMatchObject({ kind: "host-key", isRetryable: false });
    expect(error.message).toContain("via outer");
    const lenient = connectFrom(home.dir, { hostKeys: "accept-new" });
    const session = await lenient({ ...alias("far"), configFile });
    sessions.push(session);
    expect((await runScript(session, "echo hello")).stdout).toBe("hello\n");
  });

  test("bytes pass unchanged", async () => {
    const connect = await configure();
    const session = await connect(alias("gpu1"));
    const data = Buffer.alloc(20 << 20, "0123456789abcdef");
    const { stdout } = await runScript(session, "cksum", { stdin: data });
    expect(stdout).toBe(execFileSync("cksum", { input: data, encoding: "utf8" }));
  });

  test("a wrong host key at a jump host is refused, and no key of the user is shown to a host behind it", async () => {
    const connect = await configure();
    const stranger = await makeStranger();
    const former = (await readFile(`${stranger}.pub`, "utf8")).split(" ").slice(0, 2).join(" ");
    await home.write(".ssh/known_hosts", `[127.0.0.1]:${relays.inner.port} ${former}\n`);
    const before = { inner: logins(inner), machine: logins(machine) };
    const error = await refusal(connect(alias("gpu1")));
    expect(error).toMatchObject({ kind: "host-key", isRetryable: false });
    const [to, via] = [at(machine).port, relays.inner.port];
    expect(error.message).toContain(
      `gpu1 (127.0.0.1:${to}) via inner: inner (127.0.0.1:${via}) via outer: its host key is now`,
    );
    expect(error.hint).toContain(`ssh-keygen -R '[127.0.0.1]:${via}'`);
    expect([logins(inner), logins(machine)]).toEqual([before.inner, before.machine]);
    await until("the jump host is left", () => relays.outer.open() === 0);
  });

  test("a jump host that accepts no login is asked once, for any number of machines behind it", async () => {
    const stranger = await makeStranger();
    const connect = await configure(
      block("gpu*", machine, ["ProxyJump strict"]),
      block("strict", { ...at(inner), keyPath: stranger }, ["ProxyJump outer"], relays.inner.port),
    );
    const errors = await Promise.all(["gpu1", "gpu2", "gpu3"].map((name) => refusal(connect(alias(name)))));
    errors.push(await refusal(connect(alias("gpu4"))));
    for (const [i, error] of errors.entries()) {
      expect(error).toMatchObject({ kind: "auth", isRetryable: false });
      expect(error.message).toMatch(
        new RegExp(`^gpu${i + 1} \\(\\S+\\) via strict: strict \\(\\S+\\) via outer: does not let `),
      );
      expect(error.message).toContain(stranger);
    }
    expect(relays.inner.connections()).toBe(1);
  });

  test("a jump host that forwards nothing", async () => {
    const closed = await startSshd({ config: ["AllowTcpForwarding no"] });
    const connect = await configure(block("inner", closed), block("gpu1", machine, ["ProxyJump inner"]));
    const error = await refusal(connect(alias("gpu1")));
    expect(error).toMatchObject({ kind: "protocol", isRetryable: false });
    expect(error.message).toContain("via inner: inner does not forward connections (AllowTcpForwarding");
    await closed.stop();
  });

  test("a machine that its jump host cannot reach", async () => {
    const closed = await startRelay(at(machine).port);
    await closed.stop();
    const connect = await configure(block("gpu1", machine, ["ProxyJump outer"], closed.port));
    const error = await refusal(connect(alias("gpu1")));
    expect(error).toMatchObject({ kind: "refused", isRetryable: true });
    expect(error.message).toBe(`gpu1 (127.0.0.1:${closed.port}) via outer: nothing listens on that port`);
  });

  test("an unreachable jump host", async () => {
    relays.outer.refuse();
    const connect = await configure();
    const error = await refusal(connect(alias("gpu1")));
    expect(error.isRetryable).toBe(true);
    expect(error.message).toMatch(/^gpu1 \(\S+\) via inner: inner \(\S+\) via outer: outer \(\S+\): /);
    relays.outer.accept();
    expect((await runScript(await connect(alias("gpu1")), "echo hello")).stdout).toBe("hello\n");
  });
});

describe.each(["ssh2", "openssh"] as const)("a jump host is shared (%s)", (transport) => {
  const to = (host: string) => ({ ...alias(host), transport });

  test("one connection for all machines behind it, which ends with the last of them", async () => {
    const connect = await configure(block("gpu*", machine, ["ProxyJump outer"]));
    const three = await Promise.all(["gpu1", "gpu2", "gpu3"].map((name) => connect(to(name))));
    expect(three.map(({ about }) => about.transport)).toEqual([transport, transport, transport]);
    expect(relays.outer.connections()).toBe(1);
    await three[0]?.close();
    await three[1]?.close();
    expect((await runScript(three[2] as Session, "echo still there")).stdout).toBe("still there\n");
    expect(relays.outer.open()).toBe(1);
    await three[2]?.close();
    await until("the jump host is left", () => relays.outer.open() === 0);
    await connect(to("gpu1"));
    expect(relays.outer.connections()).toBe(2);
  });

  test("when it ends, so do the sessions behind it; reconnecting shares a new one", async () => {
    const connect = await configure(block("gpu*", machine, ["ProxyJump outer"]));
    const two = await Promise.all(["gpu1", "gpu2"].map((name) => connect(to(name))));
    const running = await Promise.all(two.map((session) => session.exec("sleep 1000")));
    for (const { stdout, stderr } of running) {
      stdout.resume();
      stderr.resume();
    }
    relays.outer.cut();
    for (const { ended } of running) expect((await ended).kind).toBe("lost");
    await Promise.all(two.map(({ gone }) => gone));
    const again = await Promise.all(["gpu1", "gpu2"].map((name) => connect(to(name))));
    for (const session of again) expect((await runScript(session, "echo back")).stdout).toBe("back\n");
    expect(relays.outer.connections()).toBe(2);
  });
});

describe("many machines", () => {
  test.each(["ssh2", "openssh"] as const)(
    "30 behind one jump host, all at once, with sshd's usual limits: none is refused (%s)",
    async (transport) => {
      const connect = await configure(block("gpu*", machine, ["ProxyJump outer"]));
      const before = logins(machine);
      const names = Array.from({ length: 30 }, (_, i) => `gpu${i}`);
      const all = await Promise.all(names.map((name) => connect({ ...alias(name), transport })));
      const answers = await Promise.all(all.map((session) => runScript(session, "echo hello")));
      expect(answers.map(({ stdout }) => stdout)).toEqual(names.map(() => "hello\n"));
      expect(relays.outer.connections()).toBe(1);
      expect(logins(machine)).toBe(before + 30);
      for (const host of [outer, machine]) expect(at(host).log()).not.toMatch(/MaxStartups|drop connection/);
    },
  );

  test("a connection that is aborted while it waits for its turn delays no other", async () => {
    const silent = await startRelay(at(machine).port);
    silent.pause();
    const connect = await configure(block("gpu*", machine, [], silent.port));
    const abort = new AbortController();
    const waiting = Array.from({ length: 12 }, (_, i) => connect(alias(`gpu${i}`), abort.signal));
    const failed = Promise.allSettled(waiting);
    await until("six are at the door", () => silent.connections() >= 6);
    abort.abort(new Error("changed my mind"));
    for (const end of await failed)
      expect(end).toMatchObject({ status: "rejected", reason: abort.signal.reason });
    expect(silent.connections()).toBe(6);
    silent.resume();
    expect((await runScript(await connect(alias("gpu20")), "echo hello")).stdout).toBe("hello\n");
    await silent.stop();
  });
});

describe("the choice", () => {
  test("a server that has no algorithm in common with ssh2 is reached by the system's ssh, also from then on", async () => {
    const modern = await startSshd({ config: ["KexAlgorithms sntrup761x25519-sha512@openssh.com"] });
    const relay = await startRelay(modern.port);
    const connect = await configure(block("modern", modern, [], relay.port));
    const session = await connect(alias("modern"));
    expect((await runScript(session, "echo hello")).stdout).toBe("hello\n");
    expect(session.about).toMatchObject({
      transport: "openssh",
      why: "ssh2 has no algorithm in common with it",
    });
    expect(relay.connections()).toBe(2);
    await connect(alias("modern"));
    expect(relay.connections()).toBe(3);
    for (const open of sessions.splice(0)) await open.close();
    await Promise.all([relay.stop(), modern.stop()]);
  });

  test("a machine behind a jump host that needs the system's ssh uses it for the whole route", async () => {
    const connect = await configure(block("outer", outer, ["Ciphers aes128-ctr"], relays.outer.port));
    const session = await connect(alias("gpu1"));
    expect((await runScript(session, "echo hello")).stdout).toBe("hello\n");
    expect(session.about).toMatchObject({
      transport: "openssh",
      why: "at the jump host outer, the configuration has its own Ciphers",
    });
  });

  test("without an ssh program ssh2 still works, and what it cannot do is reported", async () => {
    const connect = await configure(block("gpu2", machine, ["ProxyJump inner", "ProxyCommand nc %h %p"]));
    vi.stubEnv("PATH", home.dir);
    try {
      const session = await connect(alias("gpu1"));
      expect(session.about).toMatchObject({ transport: "ssh2", via: ["outer", "inner"] });
      const error = await refusal(connect(alias("gpu2")));
      expect(error).toMatchObject({ kind: "config", isRetryable: false });
      expect(error.message).toContain(
        "needs an ssh program on this computer, because the configuration has a ProxyCommand",
      );
      expect(error.hint).toContain("apt install openssh-client");
    } finally {
      vi.unstubAllEnvs();
    }
  });

  test("a configuration that ssh refuses is a mistake, with its place", async () => {
    const connect = await configure("Host gpu1\n  Prot 22");
    const error = await refusal(connect(alias("gpu1")));
    expect(error).toMatchObject({ kind: "config", isRetryable: false });
    expect(error.message).toContain(`${home.path(".ssh/config")}: line 2: Bad configuration option: prot`);
  });
});
