// Logging in with keys that need a person, an agent or several tries, and the errors if it fails.

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { copyFile, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import ssh2, { type AuthContext } from "ssh2";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { ConnectError, type SshAddress } from "../../src/transport/connect-error.js";
import type { ConnectOptions } from "../../src/transport/connect-options.js";
import { deferred } from "../../src/transport/deferred.js";
import type { About } from "../../src/transport/session.js";
import { fingerprint } from "../../src/transport/trust/known-hosts.js";
import { startAgent, type TestAgent } from "../rig/agent.js";
import { LIGHT_NO_GPU } from "../rig/batch.js";
import { runCommand } from "../rig/command.js";
import { addressOf, connectFrom } from "../rig/connect.js";
import { person } from "../rig/person.js";
import { type Relay, startRelay } from "../rig/relay.js";
import { makeKey, startSshd, type TestHost } from "../rig/sshd.js";
import { runOnTerminal } from "../rig/terminal.js";
import { until } from "../rig/until.js";
import { makeWorkspace, type Workspace } from "../rig/workspace.js";

let host: TestHost;
let client: Workspace;
let agent: TestAgent;
let relay: Relay;
let locked = "";
const PASSPHRASE = "quit, stop, drop";
const QUESTION = () => `Enter passphrase for key '${locked}': `;

beforeAll(async () => {
  // Verbose: its log has each key that it refuses.
  [host, client] = await Promise.all([startSshd({ config: ["LogLevel VERBOSE"] }), makeWorkspace()]);
  agent = await startAgent(client.dir);
  locked = client.path("locked");
  makeKey(locked, { passphrase: PASSPHRASE });
  await letIn(host, locked);
});
beforeEach(async () => {
  relay = await startRelay(host.port);
});
afterEach(async () => {
  agent.clear();
  await relay.stop();
  await rm(client.path(".ssh"), { recursive: true, force: true });
});
afterAll(async () => {
  agent?.stop();
  await Promise.all([host?.stop(), client?.remove()]);
});

async function letIn(machine: TestHost, key: string): Promise<void> {
  const allowed = join(machine.dir, "authorized_keys");
  await writeFile(allowed, (await readFile(allowed, "utf8")) + (await readFile(`${key}.pub`, "utf8")));
}

/** A new one each time, because a test may be retried. */
function newKey(name: string, options?: Parameters<typeof makeKey>[1]): string {
  const path = join(mkdtempSync(client.path("key-")), name);
  makeKey(path, options);
  return path;
}

async function logIn(over: Partial<SshAddress> = {}, options: Partial<ConnectOptions> = {}): Promise<About> {
  const connect = connectFrom(client.dir, options);
  const session = await connect(addressOf(host, { port: relay.port, transport: "ssh2", ...over }));
  await session.close();
  return session.about;
}

async function refusal(
  over: Partial<SshAddress> = {},
  options: Partial<ConnectOptions> = {},
): Promise<ConnectError> {
  const error = await logIn(over, options).then(
    () => new Error("was let in"),
    (reason) => reason,
  );
  if (!(error instanceof ConnectError)) throw error;
  return error;
}

describe("a key with a passphrase, and a person to ask", () => {
  test("is asked for once, by machines that connect at the same time and later", async () => {
    const { ask, asked } = person(PASSPHRASE);
    const connect = connectFrom(client.dir, { ask });
    const address = addressOf(host, { port: relay.port, keyPath: locked });
    const sessions = await Promise.all([connect(address), connect(addressOf(host, { keyPath: locked }))]);
    sessions.push(await connect(address));
    expect(sessions.map(({ about }) => about.login)).toEqual(Array(3).fill(`the key ${locked}`));
    await Promise.all(sessions.map((session) => session.close()));
    expect(asked).toEqual([QUESTION()]);
  });

  test("is not asked for if the machine would not accept the key", async () => {
    const stranger = newKey("stranger", { passphrase: PASSPHRASE });
    const { ask, asked } = person(PASSPHRASE);
    const error = await refusal({ keyPath: stranger }, { ask });
    expect(error.message).toContain(`tried: the key ${stranger} (refused); the machine accepts publickey`);
    expect(asked).toEqual([]);
  });

  test("three wrong ones, or none: reported, on one connection", async () => {
    const wrong = person("a", "b", "c", PASSPHRASE);
    const error = await refusal({ keyPath: locked }, { ask: wrong.ask });
    expect(error).toMatchObject({ kind: "auth", isRetryable: false });
    expect(error.message).toContain(`the key ${locked} (the passphrase was wrong)`);
    expect(wrong.asked).toEqual([QUESTION(), ...Array(2).fill(`Wrong passphrase. ${QUESTION()}`)]);
    const none = await refusal({ keyPath: locked }, { ask: person(null).ask });
    expect(none.message).toContain(`the key ${locked} (no passphrase was given)`);
    expect(relay.connections()).toBe(2);
  });

  test("an older key without a readable public half is asked for before it is offered", async () => {
    const old = newKey("old", { type: "rsa", passphrase: PASSPHRASE, format: "PEM" });
    await letIn(host, old);
    rmSync(`${old}.pub`);
    const { ask, asked } = person(PASSPHRASE);
    expect((await logIn({ keyPath: old }, { ask })).login).toBe(`the key ${old}`);
    expect(asked).toHaveLength(1);
  });

  test("a connection that is lost in the meantime is a temporary error, and the answer counts for the next try", async () => {
    const { promise: answer, resolve } = deferred<string>();
    let count = 0;
    const passphrase = () => {
      count++;
      return answer;
    };
    const connect = connectFrom(client.dir, { ask: { passphrase } });
    const address = addressOf(host, { port: relay.port, keyPath: locked });
    const lost = connect(address).catch((error) => error);
    await until("a person is asked", () => count === 1);
    relay.cut();
    expect(await lost).toMatchObject({ isRetryable: true });
    resolve(PASSPHRASE);
    await (await connect(address)).close();
    expect(count).toBe(1);
  });
});

describe("several keys", () => {
  test("identity files whose keys the agent has come first, and the accepted key is known", async () => {
    agent.add(newKey("one"));
    agent.add(locked, PASSPHRASE);
    const lines = [`IdentityFile ${newKey("two")}`, `IdentityFile ${locked}`];
    const configFile = await client.write("config", `${lines.join("\n")}\n`);
    const before = host.log().length;
    const about = await logIn({ keyPath: null, configFile }, { agentSocket: agent.socket });
    expect(about.login).toBe(`the key ${locked} by the agent`);
    await until("sshd has noted it", () => host.log().slice(before).includes("Accepted publickey"));
    expect(host.log().slice(before)).not.toContain("Failed publickey");
  });

  test("each is named with why it failed, and there is one connection", async () => {
    await mkdir(client.path(".ssh"), { mode: 0o700 });
    const heldPath = newKey("held");
    makeKey(client.path(".ssh/id_rsa"), { type: "ecdsa" }); // the name counts here
    await copyFile(locked, client.path(".ssh", "id_ed25519"));
    agent.add(heldPath);
    const before = host.log().length;
    const error = await refusal({ keyPath: null }, { agentSocket: agent.socket });
    const held = Buffer.from(readFileSync(`${heldPath}.pub`, "utf8").split(" ")[1] ?? "", "base64");
    expect(error.message).toBe(
      `127.0.0.1:${relay.port}: does not let ${host.username} in; tried: the agent's key ${fingerprint(held)} (refused), ` +
        `the key ${client.path(".ssh/id_rsa")} (refused), the key ${client.path(".ssh/id_ed25519")} ` +
        "(has a passphrase, and the agent does not hold it); the machine accepts publickey",
    );
    expect(error.hint).toBe(`ssh-add ${client.path(".ssh/id_ed25519")}`);
    await until(
      "sshd has noted both",
      () =>
        host
          .log()
          .slice(before)
          .match(/Failed publickey/g)?.length === 2,
    );
    expect(relay.connections()).toBe(1);
  });

  test("a machine that wants two keys gets two; with one, the error says that this was not enough", async () => {
    const strict = await startSshd({ config: ["AuthenticationMethods publickey,publickey"] });
    const second = newKey("second");
    await letIn(strict, second);
    const { port, keyPath } = strict;
    const error = await refusal({ port, keyPath });
    expect(error).toMatchObject({
      kind: "auth",
      hint: "its login asks questions: run the command in a terminal",
    });
    expect(error.message).toContain(`the key ${keyPath} (accepted, but it wants more)`);
    const files = [keyPath, second];
    const configFile = await client.write("two", files.map((file) => `IdentityFile ${file}\n`).join(""));
    expect((await logIn({ port, keyPath: null, configFile })).login).toBe(`the key ${second}`);
    await strict.stop();
  });

  test.each(["ssh2", "openssh"] as const)(
    "a machine that closes the connection before the right one is reported, with the fix (%s)",
    async (transport) => {
      const impatient = await startSshd({ config: ["MaxAuthTries 2"] });
      onTestFinished(() => impatient.stop());
      for (const name of ["one", "two", "three"]) agent.add(newKey(name));
      const configFile = await client.write("right", `IdentityFile ${impatient.keyPath}\n`);
      const { port } = impatient;
      const over = { port, keyPath: null, configFile, transport };
      const error = await refusal(over, { agentSocket: agent.socket });
      expect(error).toMatchObject({ kind: "auth", isRetryable: false });
      expect(error.hint).toMatch(/^it closed the connection after 2 keys; name the key: .*IdentitiesOnly/);
      await client.write("right", `IdentityFile ${impatient.keyPath}\nIdentitiesOnly yes\n`);
      const about = await logIn(over, { agentSocket: agent.socket });
      expect(about.login).toBe(`the key ${impatient.keyPath}`);
    },
  );

  test.each(["ssh2", "openssh"] as const)("the agent is the configuration's (%s)", async (transport) => {
    agent.add(locked, PASSPHRASE);
    const text = `IdentityFile ${locked}\nIdentityAgent ${agent.socket}\n`;
    const configFile = await client.write("agent.conf", text);
    const about = await logIn({ keyPath: null, configFile, transport }, { agentSocket: null });
    expect(about.login).toBe(`the key ${locked} by the agent`);
    await client.write("agent.conf", `IdentityFile ${locked}\nIdentityAgent none\n`);
    const error = await refusal({ keyPath: null, configFile, transport }, { agentSocket: agent.socket });
    expect(error.message).toContain("there is no agent");
  });

  test("a machine that accepts no keys is offered none of several; its methods are asked first", async () => {
    const words = await startSshd({
      config: ["LogLevel VERBOSE", "PubkeyAuthentication no", "PasswordAuthentication yes"],
    });
    const files = [host.keyPath, words.keyPath];
    const configFile = await client.write("two", files.map((file) => `IdentityFile ${file}\n`).join(""));
    const error = await refusal({ port: words.port, keyPath: null, configFile });
    expect(error.message).toMatch(/\(not tried\), .* \(not tried\); the machine accepts password$/);
    const { message } = await refusal({ port: words.port });
    expect(message).toMatch(/\(refused\); the machine accepts password$/);
    await words.stop();
  });

  test("the only key signs at once, without asking for the accepted methods or whether it is accepted", async () => {
    const telling = await startSshd({ config: ["LogLevel DEBUG1"] });
    expect((await logIn({ port: telling.port, keyPath: telling.keyPath })).login).toContain(telling.keyPath);
    await until("sshd has noted the login", () => telling.log().includes("Accepted publickey"));
    expect(telling.log()).toContain("method publickey");
    expect(telling.log()).not.toContain("method none");
    expect(telling.log()).not.toContain("Postponed publickey");
    await telling.stop();
  });

  test.each(["rsa", "ecdsa", "ed25519"])(
    "a single %s key logs in, and a refused one is reported",
    async (type) => {
      const known = newKey("known", { type });
      await letIn(host, known);
      expect((await logIn({ keyPath: known })).login).toBe(`the key ${known}`);
      const stranger = newKey("stranger", { type });
      expect((await refusal({ keyPath: stranger })).message).toContain(`the key ${stranger} (refused)`);
    },
  );

  test("an agent that does not sign is reported, and the next key is tried", async () => {
    agent.add(host.keyPath, "", ["-c"]); // to be confirmed, without a person to do it
    const error = await refusal({ keyPath: `${host.keyPath}.pub` }, { agentSocket: agent.socket });
    expect(error.message).toContain("(the agent does not sign with it)");
    const files = [`${host.keyPath}.pub`, locked];
    const configFile = await client.write("next", files.map((file) => `IdentityFile ${file}\n`).join(""));
    const { ask } = person(PASSPHRASE);
    const about = await logIn({ keyPath: null, configFile }, { agentSocket: agent.socket, ask });
    expect(about.login).toBe(`the key ${locked}`);
  });
});

describe("servers of another kind", () => {
  /** A server that accepts logins as `judge` decides. */
  async function serve(judge: (login: AuthContext) => void) {
    const hostKeys = [readFileSync(join(host.dir, "host_key"))];
    let connections = 0;
    const server = new ssh2.Server({ hostKeys }, (connection) => {
      connections++;
      connection.on("error", () => {}).on("authentication", judge);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as { port: number };
    return { port, connections: () => connections };
  }

  test("one that asks for nothing accepts a login without a key", async () => {
    const { port } = await serve((login) => (login.method === "none" ? login.accept() : login.reject()));
    const about = await logIn({ port, keyPath: null });
    expect(about.login).toBe("no key, the machine asked for none");
  });

  test("one that asks questions is answered through the system's ssh, if there is a person", async () => {
    const { port, connections } = await serve((login) => {
      if (login.method !== "keyboard-interactive") return login.reject(["keyboard-interactive"]);
      login.prompt([{ prompt: "Code: ", echo: false }], ([code]) =>
        code === "42" ? login.accept() : login.reject(),
      );
    });
    const unattended = await refusal({ port, transport: null });
    expect(unattended.hint).toBe("its login asks questions: run the command in a terminal");
    expect(connections()).toBe(1);
    const { ask, asked } = person("42");
    const about = await logIn({ port, transport: null }, { ask });
    expect(about).toMatchObject({ transport: "openssh", why: "it asks for more than a key" });
    expect(asked).toEqual([expect.stringContaining("Code: ")]);
  });
});

describe("on a terminal", () => {
  async function machines(count: number): Promise<string[]> {
    return Promise.all(
      Array.from({ length: count }, (_, i) => {
        const text = `ip: 127.0.0.1\nusername: ${host.username}\nport: ${i === 0 ? host.port : relay.port}\nssh_key_path: ${locked}\n`;
        return client.write(`m${i}.yaml`, text);
      }),
    );
  }
  const times = (text: string, wanted: string) => text.split(wanted).length - 1;

  test("two machines, one question; the typed text is not visible", async () => {
    const args = ["probe", "--machines", ...(await machines(2))];
    const terminal = runOnTerminal(args, { cwd: client.dir, home: client.dir, program: "sshoal" });
    await terminal.shows(QUESTION());
    terminal.type(`${PASSPHRASE}\r`);
    expect(await terminal.ended).toBe(0);
    expect(times(terminal.shown(), QUESTION())).toBe(1);
    expect(terminal.shown()).not.toContain(PASSPHRASE);
  });

  test("the live view is hidden; a wrong answer is reported; the batch runs", async () => {
    const work = await makeWorkspace({ "jobs.sh": "echo done\n" });
    const args = ["jobs.sh", ...LIGHT_NO_GPU, "--machines", ...(await machines(1))];
    const terminal = runOnTerminal(args, { cwd: work.dir, home: client.dir });
    await terminal.shows(QUESTION());
    terminal.type("wrong\r");
    await terminal.shows(`Wrong passphrase. ${QUESTION()}`);
    terminal.type(`${PASSPHRASE}\r`);
    expect(await terminal.ended).toBe(0);
    expect(await work.read("job_results/jobs.sh.1.out")).toBe("done\n");
    await work.remove();
    // The last drawing before the question removed the view, and none comes between a question and its answer.
    const drawings = terminal.shown().split(QUESTION())[0]?.split("\x1b[?2026h") ?? [];
    expect(drawings.map((drawing) => drawing.includes("q leave or stop")).slice(-2)).toEqual([true, false]);
    expect(terminal.shown()).toContain(`Wrong passphrase. ${QUESTION()}\r\n`);
    expect(terminal.shown()).not.toContain(PASSPHRASE);
  });

  test("Ctrl-C at the question is no answer, and the terminal is restored", async () => {
    const args = ["probe", "--machines", ...(await machines(1))];
    const options = { cwd: client.dir, home: client.dir, program: "sshoal", afterwards: "stty -a" } as const;
    const terminal = runOnTerminal(args, options);
    await terminal.shows(QUESTION());
    terminal.type("half\x03");
    await terminal.ended;
    expect(terminal.shown().replace(/\s+/g, " ")).toContain("(no passphrase was given)");
    expect(terminal.shown()).toMatch(/\sisig icanon\b/);
    expect(terminal.shown()).toMatch(/\secho echoe\b/);
  });

  test("in a pipe the agent of the environment is enough", async () => {
    agent.add(locked, PASSPHRASE);
    const { code, stdout } = await runCommand(["probe", "-v", "--machines", ...(await machines(1))], {
      cwd: client.dir,
      home: client.dir,
      program: "sshoal",
      env: { SSH_AUTH_SOCK: agent.socket },
    });
    expect(code).toBe(0);
    expect(stdout.replace(/\s+/g, " ")).toContain(`logged in with the key ${locked} by the agent`);
  });

  test("in a pipe nothing is asked", async () => {
    const options = {
      cwd: client.dir,
      home: client.dir,
      program: "sshoal",
      stdin: `${PASSPHRASE}\n`,
    } as const;
    const { code, stdout, stderr } = await runCommand(
      ["probe", "--machines", ...(await machines(1))],
      options,
    );
    expect(code).toBe(3);
    expect(stdout + stderr).not.toContain("Enter passphrase");
    expect(stdout + stderr).toContain(`ssh-add ${locked}`);
  });
});
