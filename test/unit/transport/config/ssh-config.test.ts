import { chmodSync, existsSync, readdirSync, utimesSync } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { hostname, userInfo } from "node:os";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import {
  type ConfigOptions,
  createSshConfig,
  type SshConfig,
} from "../../../../src/transport/config/ssh-config.js";
import type { SshTarget } from "../../../../src/transport/config/target.js";
import type { SshAddress } from "../../../../src/transport/connect-error.js";
import { makeWorkspace, type Workspace } from "../../../rig/workspace.js";

const me = userInfo();
let home: Workspace;
let notes: string[];

beforeAll(async () => {
  home = await makeWorkspace();
});
beforeEach(async () => {
  notes = [];
  await home.write(".ssh/config", "");
});
afterAll(() => home?.remove());

function configOf(options: Partial<ConfigOptions> = {}) {
  const onNote = (note: string) => notes.push(note);
  return createSshConfig({ homeDir: home.dir, agentSocket: "/agent", hostKeys: null, onNote, ...options });
}

function anAddress(over: Partial<SshAddress> = {}): SshAddress {
  const unsaid = { port: null, username: null, keyPath: null, configFile: null, transport: null };
  return { kind: "ssh", host: "gpu1", ...unsaid, ...over };
}

const NO_PROGRAM = { program: "/no/such/ssh" };

/** Each asks for the defaults once. */
const configs = new Map<object, SshConfig>();
let files = 0;

/** The target for an address with `text` as the configuration. */
async function resolve(
  text: string,
  over: Partial<SshAddress> = {},
  options: Partial<ConfigOptions> = {},
): Promise<SshTarget> {
  const configFile = await home.write(`config-${files++}`, text);
  const config = configs.get(options) ?? configOf(options);
  configs.set(options, config);
  return config.resolve(anAddress({ configFile, ...over }), null);
}

describe.each([
  ["asked of ssh", {}],
  ["without an ssh program", NO_PROGRAM],
])("%s", (_, options) => {
  test("a name that is not in the configuration", async () => {
    const target = await resolve("", {}, options);
    expect(target).toMatchObject({
      alias: "gpu1",
      host: "gpu1",
      port: 22,
      username: me.username,
      hostKeyAlias: null,
      hasOwnIdentities: false,
      identitiesOnly: false,
      agentSocket: "/agent",
      proxyJump: [],
      proxyCommand: null,
      hostKeys: "accept-new",
      addressFamily: 0,
      connectTimeoutMs: 10_000,
      keepaliveMs: 15_000,
      keepaliveCount: 3,
      userKnownHosts: [home.path(".ssh/known_hosts"), home.path(".ssh/known_hosts2")],
      globalKnownHosts: ["/etc/ssh/ssh_known_hosts", "/etc/ssh/ssh_known_hosts2"],
      hashesKnownHosts: false,
      needsOpenssh: [],
    });
    for (const name of ["id_rsa", "id_ecdsa", "id_ed25519"])
      expect(target.identityFiles).toContain(home.path(".ssh", name));
  });

  test.each<[string, string, Partial<SshTarget>]>([
    [
      "an alias",
      "Host gpu1\n HostName 10.0.0.5\n User bob\n Port 2222\n HostKeyAlias farm",
      { host: "10.0.0.5", username: "bob", port: 2222, hostKeyAlias: "farm" },
    ],
    ["%h in HostName", "Host gpu?\n HostName %h.lab", { alias: "gpu1", host: "gpu1.lab" }],
    [
      "the first value counts",
      "Host gpu1\n User bob\nHost *\n User eve\n Port 23",
      { username: "bob", port: 23 },
    ],
    ["a pattern that is denied", "Host gpu* !gpu1\n Port 23", { port: 22 }],
    ["Match host", "Match host gpu1\n Port 23", { port: 23 }],
    [
      "timeouts",
      "ConnectTimeout 3\nServerAliveInterval 7\nServerAliveCountMax 2",
      {
        connectTimeoutMs: 3000,
        keepaliveMs: 7000,
        keepaliveCount: 2,
      },
    ],
    ["strict host keys", "StrictHostKeyChecking yes", { hostKeys: "strict" }],
    ["host keys not looked at", "StrictHostKeyChecking no", { hostKeys: "accept-new" }],
    ["IPv4 alone", "AddressFamily inet", { addressFamily: 4 }],
    ["IPv6 alone", "AddressFamily inet6", { addressFamily: 6 }],
    ["several hops", "ProxyJump a,bob@b:2222,c", { proxyJump: ["a", "bob@b:2222", "c"] }],
    ["no hop", "Host gpu1\n ProxyJump none\nHost *\n ProxyJump a", { proxyJump: [] }],
    ["no ProxyCommand", "ProxyCommand none", { proxyCommand: null, needsOpenssh: [] }],
    ["no agent", "IdentityAgent none", { agentSocket: null }],
    ["the usual agent", "IdentityAgent SSH_AUTH_SOCK", { agentSocket: "/agent" }],
    ["another agent", "IdentityAgent /run/%r@%h", { agentSocket: `/run/${me.username}@gpu1` }],
    ["an agent in a variable that is not set", "IdentityAgent $NO_SUCH_VARIABLE", { agentSocket: null }],
    ["only these keys", "IdentitiesOnly yes", { identitiesOnly: true, hasOwnIdentities: false }],
    ["no key files", "IdentityFile none", { identityFiles: [], hasOwnIdentities: true }],
    ["several known_hosts", 'UserKnownHostsFile /a/b "/c d/e"', { userKnownHosts: ["/a/b", "/c d/e"] }],
    ["a known_hosts that keeps nothing", "UserKnownHostsFile /dev/null", { userKnownHosts: ["/dev/null"] }],
    ["hashed names", "HashKnownHosts yes", { hashesKnownHosts: true }],
    ["no known_hosts", "GlobalKnownHostsFile none", { globalKnownHosts: [] }],
  ])("%s", async (_name, text, target) => {
    expect(await resolve(text, {}, options)).toMatchObject(target);
  });

  test("several key files, with everything that may be in a path", async () => {
    vi.stubEnv("SSHOAL_TEST_KEYS", "/keys/of a test");
    onTestFinished(() => void vi.unstubAllEnvs());
    const text = [
      "HostName 10.0.0.5",
      "Port 2222",
      "User bob",
      "IdentityFile ~/.ssh/own",
      "IdentityFile %d/.ssh/%n_%h_%p_%r_%u_%l_%%",
      'IdentityFile "/keys/with space"',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: ssh's own
      "IdentityFile ${SSHOAL_TEST_KEYS}/key",
    ];
    const { identityFiles, hasOwnIdentities } = await resolve(text.join("\n"), {}, options);
    expect(identityFiles).toEqual([
      home.path(".ssh/own"),
      home.path(`.ssh/gpu1_10.0.0.5_2222_bob_${me.username}_${hostname()}_%`),
      "/keys/with space",
      "/keys/of a test/key",
    ]);
    expect(hasOwnIdentities).toBe(true);
  });

  test("the address takes precedence over the configuration", async () => {
    const over = { port: 2300, username: "alice", keyPath: "/keys/own" };
    const text = "Port 23\nUser bob\nIdentityFile /keys/other";
    expect(await resolve(text, over, options)).toMatchObject({
      port: 2300,
      username: "alice",
      identityFiles: ["/keys/own"],
      identitiesOnly: true,
      hasOwnIdentities: true,
    });
  });

  test("a policy for host keys takes precedence over the configuration", async () => {
    const over = { ...options, hostKeys: "strict" as const };
    expect((await resolve("StrictHostKeyChecking no", {}, over)).hostKeys).toBe("strict");
  });

  test("another file instead of the user's own", async () => {
    const configFile = await home.write("other", "Host gpu1\n Port 24\n");
    const target = await resolve("Port 23", { configFile }, options);
    expect(target).toMatchObject({ port: 24, configFile });
  });

  test("a missing file", async () => {
    const asked = resolve("", { configFile: home.path("missing") }, options);
    await expect(asked).rejects.toMatchObject({
      kind: "config",
      isRetryable: false,
      message: expect.stringContaining(home.path("missing")),
    });
  });

  test("another host's remaining hops replace its own", async () => {
    await home.write(".ssh/config", "ProxyJump own");
    const target = await configOf(options).resolve(anAddress(), "a,b");
    expect(target.proxyJump).toEqual(["a", "b"]);
  });

  test.each<[string, string]>([
    ["ProxyCommand nc %h %p", "the configuration has a ProxyCommand"],
    ["CertificateFile ~/.ssh/c-cert.pub", "the configuration has a CertificateFile"],
    ["PKCS11Provider /lib/x.so", "the configuration has a PKCS11Provider"],
    ["SecurityKeyProvider /lib/sk.so", "the configuration has a SecurityKeyProvider"],
    ["KnownHostsCommand /bin/echo", "the configuration has a KnownHostsCommand"],
    ["BindAddress 127.0.0.1", "the configuration has a BindAddress"],
    ["BindInterface lo", "the configuration has a BindInterface"],
    ["Ciphers aes128-ctr", "the configuration has its own Ciphers"],
    ["MACs hmac-sha2-256", "the configuration has its own MACs"],
    ["KexAlgorithms curve25519-sha256", "the configuration has its own KexAlgorithms"],
    ["HostKeyAlgorithms +ssh-rsa", "the configuration has its own HostKeyAlgorithms"],
    ["PubkeyAcceptedAlgorithms +ssh-rsa", "the configuration has its own PubkeyAcceptedAlgorithms"],
    ["CASignatureAlgorithms ssh-ed25519", "the configuration has its own CASignatureAlgorithms"],
    ["VerifyHostKeyDNS yes", "the configuration turns VerifyHostKeyDNS on"],
    ["HostbasedAuthentication yes", "the configuration turns HostbasedAuthentication on"],
    ["PubkeyAuthentication no", "the configuration turns PubkeyAuthentication off"],
    ["PreferredAuthentications gssapi-with-mic", "its PreferredAuthentications leave public keys out"],
    ["IdentityFile ~/.ssh/%C", "its IdentityFile has a token that only ssh expands"],
  ])("%s needs the system's ssh", async (line, reason) => {
    expect((await resolve(line, {}, options)).needsOpenssh).toEqual([reason]);
  });

  test.each([
    "Compression yes",
    "ControlMaster auto",
    "ControlPath ~/.ssh/%C",
    "PreferredAuthentications publickey,password",
    "VerifyHostKeyDNS no",
    "ForwardAgent yes",
    "RemoteCommand tmux",
    "IdentityFile ~/.ssh/a%%C",
  ])("%s does not", async (line) => {
    expect((await resolve(line, {}, options)).needsOpenssh).toEqual([]);
  });
});

describe("settings that only ssh itself resolves", () => {
  test("Include, and Match exec", async () => {
    const other = await home.write("more.conf", "Host gpu1\n Port 2200\n");
    const text = `Include ${other}\nMatch exec "test %n = gpu1"\n User bob\nMatch exec false\n User eve\n`;
    expect(await resolve(text)).toMatchObject({ port: 2200, username: "bob" });
  });

  test("mistakes have their places, and a command that shows them again", async () => {
    const file = await home.write(".ssh/config", "Host gpu1\n  Prot 22\n  Port abc\n");
    const error = await configOf()
      .resolve(anAddress({ port: 23 }), null)
      .catch((reason) => reason);
    expect(error).toMatchObject({ kind: "config", isRetryable: false });
    expect(error.message).toContain(`gpu1: ssh cannot use its configuration: ${file}: line 2: Bad config`);
    expect(error.message).toContain(`${file} line 3: Bad port 'abc'.`);
    expect(error.message).not.toMatch(/\n|terminating/);
    expect(error.hint).toContain(`ssh -G -F ${file} -p 23 -- gpu1`);
  });

  test("a jump host that is its own jump host", async () => {
    await expect(resolve("ProxyJump gpu1")).rejects.toMatchObject({
      kind: "config",
      message: expect.stringContaining("jumphost loop"),
    });
  });

  test("a home without a configuration", async () => {
    await rm(home.path(".ssh/config"));
    expect(await configOf().resolve(anAddress(), null)).toMatchObject({ host: "gpu1", port: 22 });
  });

  test("names that look like options are names", async () => {
    const made = home.path("made");
    const asked = configOf().resolve(anAddress({ host: `-oProxyCommand=touch ${made}` }), null);
    await asked.catch(() => {});
    expect(existsSync(made)).toBe(false);
  });

  test("ssh is asked once per way of naming a machine", async () => {
    const log = home.path("asked");
    await home.write(".ssh/config", `Match exec "echo %n %p >> ${log}"\n Port 23\n`);
    const config = configOf();
    const two = [anAddress(), anAddress({ host: "gpu2" }), anAddress()];
    const targets = await Promise.all([...two, ...two].map((address) => config.resolve(address, null)));
    expect(targets[2]).toBe(targets[0]);
    expect((await home.read("asked")).trim().split("\n").sort()).toEqual(["gpu1 22", "gpu2 22"]);
  });

  test("waiting for it can be aborted without side effects", async () => {
    const go = home.path("go");
    await home.write(".ssh/config", `Match exec "while ! [ -e ${go} ]; do sleep 0.05; done"\n Port 23\n`);
    const config = configOf();
    const abort = new AbortController();
    const waiting = config.resolve(anAddress(), null, abort.signal);
    abort.abort(new Error("changed my mind"));
    await expect(waiting).rejects.toThrow("changed my mind");
    await home.write("go", "");
    expect((await config.resolve(anAddress(), null)).port).toBe(23);
  });
});

describe("without an ssh program", () => {
  test("its absence is known", async () => {
    expect(await configOf(NO_PROGRAM).hasSsh()).toBe(false);
    expect(await configOf().hasSsh()).toBe(true);
  });

  test("an ignored Include is reported", async () => {
    await home.write(".ssh/config", "Include more.conf\nPort 23\n");
    const target = await configOf(NO_PROGRAM).resolve(anAddress(), null);
    expect(target).toMatchObject({ port: 23, configFile: null });
    expect(notes).toEqual([
      `${home.path(".ssh/config")}: its Include is ignored, because this computer has no ssh program`,
    ]);
  });
});

describe("GSSAPI", () => {
  /** An ssh that answers only this. */
  const sshSaying = (everywhere: string, here: string) =>
    home.write(
      "ssh-of-gssapi",
      `#!/bin/sh
case "$*" in
  *"-F none "*) echo gssapiauthentication no ;;
  *"-F /etc/ssh/ssh_config "*) echo gssapiauthentication ${everywhere} ;;
  *) echo gssapiauthentication ${here} ;;
esac
`,
    );

  test.each([
    ["turned on for all hosts does not count", "yes", "yes", []],
    ["turned on for one machine counts", "no", "yes", ["the configuration turns GSSAPIAuthentication on"]],
    ["turned off is fine for ssh2", "yes", "no", []],
  ])("%s", async (_, everywhere, here, reasons) => {
    const config = configOf({ program: await sshSaying(everywhere, here) });
    const target = await config.resolve(anAddress(), null);
    expect(target.needsOpenssh).toEqual(reasons);
  });
});

describe("what ssh prints without a configuration", () => {
  let program: string;
  let cacheDir: string;
  beforeEach(async () => {
    cacheDir = home.path("cache");
    await rm(cacheDir, { recursive: true, force: true });
    await mkdir(cacheDir, { mode: 0o700 });
    program = await writeSsh("aes128-ctr");
  });

  /** Notes when it is asked without a configuration. */
  async function writeSsh(ciphers: string): Promise<string> {
    await rm(home.path("defaults-asked"), { force: true });
    const file = await home.write(
      "ssh-with-defaults",
      `#!/bin/sh
case "$*" in *"-F none "*) echo x >> ${home.path("defaults-asked")} ;; esac
echo ciphers ${ciphers}
`,
    );
    chmodSync(file, 0o755);
    return file;
  }

  async function timesAsked(): Promise<number> {
    const reasons = (await configOf({ program, cacheDir }).resolve(anAddress(), null)).needsOpenssh;
    expect(reasons).toEqual([]);
    return (await home.read("defaults-asked").catch(() => "")).length / 2;
  }

  test("is asked once, as long as the program stays the same", async () => {
    expect([await timesAsked(), await timesAsked()]).toEqual([1, 1]);
    expect(await configOf({ program, cacheDir }).hasSsh()).toBe(true);
    // With the kept answer, the new list would look like a setting of the user.
    await writeSsh("chacha20-poly1305@openssh.com");
    expect([await timesAsked(), await timesAsked()]).toEqual([1, 1]);
  });

  test("is asked again after a day", async () => {
    await timesAsked();
    const [kept = ""] = readdirSync(`${cacheDir}/ssh`);
    const before = Date.now() / 1000 - 25 * 3600;
    utimesSync(`${cacheDir}/ssh/${kept}`, before, before);
    expect([await timesAsked(), await timesAsked()]).toEqual([2, 2]);
  });

  test("is not kept where other accounts can write, nor if the program fails", async () => {
    await mkdir(`${cacheDir}/ssh`);
    chmodSync(`${cacheDir}/ssh`, 0o777);
    expect([await timesAsked(), await timesAsked()]).toEqual([1, 2]);
    expect(readdirSync(`${cacheDir}/ssh`)).toEqual([]);
    await rm(`${cacheDir}/ssh`, { recursive: true });
    program = await home.write("ssh-that-fails", "#!/bin/sh\nexit 1\n");
    chmodSync(program, 0o755);
    expect(await configOf({ program, cacheDir }).hasSsh()).toBe(false);
    expect(existsSync(`${cacheDir}/ssh`)).toBe(false);
  });
});
