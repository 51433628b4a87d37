// Which machines are trusted: as by OpenSSH on this computer, with the same known_hosts files and the same options.

import { execFileSync, spawnSync } from "node:child_process";
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { HostKeyPolicy } from "../../src/transport/config/target.js";
import { ConnectError, type SshAddress } from "../../src/transport/connect-error.js";
import type { ConnectOptions } from "../../src/transport/connect-options.js";
import { runCommand } from "../rig/command.js";
import { addressOf, connectFrom } from "../rig/connect.js";
import { makeKey, startSshd, type TestHost } from "../rig/sshd.js";
import { makeWorkspace, type Workspace } from "../rig/workspace.js";

let host: TestHost;
let client: Workspace;
const notes: string[] = [];
/** Public keys, `type base64`, by name. */
const keys: Record<string, string> = {};

beforeAll(async () => {
  client = await makeWorkspace();
  for (const [name, type] of Object.entries({ rsa: "rsa", stranger: "ed25519", ca: "ed25519" }))
    makeKey(client.path(name), { type });
  host = await startSshd({ config: [`HostKey ${client.path("rsa")}`] });
  for (const name of ["rsa", "stranger", "ca"]) keys[name] = await publicKey(client.path(name));
  keys.own = await publicKey(join(host.dir, "host_key"));
});
beforeEach(async () => {
  notes.length = 0;
  await rm(client.path(".ssh"), { recursive: true, force: true });
});
afterAll(() => Promise.all([host?.stop(), client?.remove()]));

async function publicKey(path: string): Promise<string> {
  return (await readFile(`${path}.pub`, "utf8")).split(" ").slice(0, 2).join(" ");
}

interface Circumstances {
  readonly config?: readonly string[];
  readonly address?: Partial<SshAddress>;
  readonly options?: Partial<ConnectOptions>;
}

async function connect({ config = [], address, options }: Circumstances = {}) {
  const configFile = await client.write("config", `${config.join("\n")}\n`);
  const connectTo = connectFrom(client.dir, { onNote: (note) => notes.push(note), ...options });
  const session = await connectTo(addressOf(host, { configFile, ...address }));
  await session.close();
  return session.about;
}

async function refusal(circumstances: Circumstances): Promise<ConnectError> {
  const error = await connect(circumstances).then(
    () => new Error("was let in"),
    (reason) => reason,
  );
  if (!(error instanceof ConnectError)) throw error;
  expect(error).toMatchObject({ kind: "host-key", isRetryable: false });
  return error;
}

describe("trusts the same hosts as the system's ssh", () => {
  const AT = () => `[127.0.0.1]:${host.port}`;
  const tables: Record<string, () => string> = {
    "an empty file": () => "",
    "its key": () => `${AT()} ${keys.own}\n`,
    "its other key": () => `${AT()} ${keys.rsa}\n`,
    "another key": () => `${AT()} ${keys.stranger}\n`,
    "another key and its own": () => `${AT()} ${keys.stranger}\n${AT()} ${keys.own}\n`,
    "another key for all but it": () => `*,!${AT()} ${keys.stranger}\n`,
    "its key by a pattern": () => `[127.0.0.?]:* ${keys.own}\n`,
    "its key without the port": () => `127.0.0.1 ${keys.own}\n`,
    "another key without the port": () => `127.0.0.1 ${keys.stranger}\n`,
    "its key revoked": () => `${AT()} ${keys.own}\n@revoked * ${keys.own}\n@revoked * ${keys.rsa}\n`,
    "another key revoked": () => `${AT()} ${keys.own}\n@revoked * ${keys.stranger}\n`,
    "a damaged line": () => `${AT()} ssh-ed25519 AAAA\n`,
    "its key, with a comment and spaces": () => `  ${AT()}\t${keys.own} me@home\r\n`,
  };
  const cases = Object.entries(tables).flatMap(([what, text]) =>
    (["strict", "accept-new"] as const).map((policy) => ({ what, policy, text })),
  );

  function sshTrusts(file: string, policy: HostKeyPolicy): boolean {
    const options = [
      `UserKnownHostsFile=${file}`,
      "GlobalKnownHostsFile=/dev/null",
      "HashKnownHosts=no",
      `StrictHostKeyChecking=${policy === "strict" ? "yes" : "accept-new"}`,
      "BatchMode=yes",
      "IdentitiesOnly=yes",
    ].flatMap((option) => ["-o", option]);
    const where = ["-F", "none", "-i", host.keyPath, "-p", String(host.port), `${host.username}@127.0.0.1`];
    return spawnSync("ssh", [...options, ...where, "true"], { stdio: "ignore" }).status === 0;
  }

  test.each(cases)("$what, $policy", async ({ policy, text }) => {
    const [theirs, ours] = [client.path("theirs"), client.path("ours")];
    for (const file of [theirs, ours]) await writeFile(file, text());
    const config = [`UserKnownHostsFile ${ours}`, "GlobalKnownHostsFile /dev/null"];
    const circumstances = { config, options: { hostKeys: policy }, address: { transport: "ssh2" } } as const;
    const isTrusted = sshTrusts(theirs, policy);
    if (isTrusted) await connect(circumstances);
    else await refusal(circumstances);
    // And the stored lines are the same.
    expect(await readFile(ours, "utf8")).toBe(await readFile(theirs, "utf8"));
  });
});

describe("the policy", () => {
  test("is the configuration's, unless the command line sets another", async () => {
    const config = ["StrictHostKeyChecking yes"];
    const { message, hint } = await refusal({ config });
    expect(message).toMatch(/is not in known_hosts, .*; its key is ssh-ed25519 SHA256:[\w+/]{43}$/);
    expect(hint).toContain("--host-keys accept-new");
    expect((await connect({ config, options: { hostKeys: "accept-new" } })).hostKey).toMatch(/^ssh-ed25519 /);
    expect(notes).toHaveLength(1);
    await connect({ config });
  });

  test("the command that a refusal suggests makes it known", async () => {
    const userKnownHosts = client.path("suggested");
    const config = [
      "StrictHostKeyChecking yes",
      `UserKnownHostsFile ${userKnownHosts}`,
      `IdentityFile ${host.keyPath}`,
    ];
    const { hint } = await refusal({ config });
    const line = /ssh -o .*? true/.exec(hint)?.[0] ?? "";
    execFileSync("sh", ["-c", line], { stdio: "ignore" });
    await connect({ config });
  });

  test("of the command: strict refuses a new machine and exits with 3, and then no file is made", async () => {
    const file = await host.machineFile();
    const args = ["probe", "--host-keys", "strict", "--machines", file];
    const options = { cwd: client.dir, home: client.dir, program: "sshoal" } as const;
    const refused = await runCommand(args, options);
    expect(refused.code).toBe(3);
    expect(refused.stdout.replace(/\s+/g, " ")).toContain("is not in known_hosts");
    await expect(readFile(client.path(".ssh", "known_hosts"))).rejects.toThrow("ENOENT");
    expect((await runCommand(["probe", "--machines", file], options)).code).toBe(0);
    expect((await runCommand(args, options)).code).toBe(0);
  });
});

describe("where keys are", () => {
  test("under a HostKeyAlias, in the first of several files, and not in /dev/null", async () => {
    const files = [client.path("first"), client.path("second")];
    for (const file of files) await writeFile(file, "");
    const config = [`UserKnownHostsFile ${files.join(" ")}`, "HostKeyAlias farm"];
    await connect({ config });
    expect(await readFile(client.path("first"), "utf8")).toBe(`farm ${keys.own}\n`);
    expect(await readFile(client.path("second"), "utf8")).toBe("");
    expect(notes).toEqual([expect.stringMatching(/^new host farm, key ssh-ed25519 .*: added to .*first$/)]);
    await connect({ config: ["UserKnownHostsFile /dev/null"] });
    expect(notes[1]).toContain("not stored");
  });

  test("under a hashed name, if HashKnownHosts is on; ssh finds it, and so do we", async () => {
    const file = client.path("unreadable");
    await rm(file, { force: true });
    const config = [`UserKnownHostsFile ${file}`, "HashKnownHosts yes"];
    await connect({ config });
    expect(await readFile(file, "utf8")).toMatch(/^\|1\|\S{28}\|\S{28} ssh-ed25519 \S+\n$/);
    expect(notes).toEqual([expect.stringContaining(`new host [127.0.0.1]:${host.port}, key `)]);
    const found = execFileSync("ssh-keygen", ["-F", `[127.0.0.1]:${host.port}`, "-f", file], {
      encoding: "utf8",
    });
    expect(found).toContain(keys.own);
    await connect({ config, options: { hostKeys: "strict" } });
  });

  test("hashed by ssh-keygen, with the host among others", async () => {
    const file = client.path("hashed");
    const lines = ["elsewhere", `[127.0.0.1]:${host.port}`, "gpu1,gpu2"].map(
      (name) => `${name} ${keys.rsa}\n`,
    );
    await writeFile(file, lines.join(""));
    execFileSync("ssh-keygen", ["-q", "-H", "-f", file], { stdio: "ignore" });
    expect(await readFile(file, "utf8")).not.toContain("127.0.0.1");
    const config = [`UserKnownHostsFile ${file}`];
    expect((await connect({ config, options: { hostKeys: "strict" } })).hostKey).toMatch(/^ssh-rsa /);
    await writeFile(file, (await readFile(file, "utf8")).replaceAll(keys.rsa ?? "", keys.stranger ?? ""));
    const { message, hint } = await refusal({ config });
    expect(message).toContain(`${file}:2`);
    execFileSync("sh", ["-c", /ssh-keygen .*/.exec(hint)?.[0] ?? ""], { stdio: "ignore" });
    await connect({ config });
  });
});

test("a machine with a certificate of a trusted authority is left to the system's ssh", async () => {
  const certified = client.path("certified");
  await rm(certified, { force: true });
  await rm(`${certified}.pub`, { force: true });
  makeKey(certified);
  const words = ["-s", client.path("ca"), "-I", "host", "-h", "-n", "127.0.0.1", `${certified}.pub`];
  execFileSync("ssh-keygen", ["-q", ...words]);
  const machine = await startSshd({
    config: [`HostKey ${certified}`, `HostCertificate ${certified}-cert.pub`],
  });
  const known = await client.write("authority", `@cert-authority [127.0.0.1]:* ${keys.ca}\n`);
  const config = [`UserKnownHostsFile ${known}`, "StrictHostKeyChecking yes"];
  const { port, keyPath } = machine;
  const about = await connect({ config, address: { port, keyPath } });
  expect(about).toMatchObject({
    transport: "openssh",
    why: `${known}:1 lists it with a certificate authority`,
  });
  expect(await readFile(known, "utf8")).toBe(`@cert-authority [127.0.0.1]:* ${keys.ca}\n`);
  await writeFile(known, `@cert-authority [127.0.0.1]:* ${keys.ca}\n@revoked * ${keys.ca}\n`);
  await refusal({ config, address: { port, keyPath } });
  await machine.stop();
});
