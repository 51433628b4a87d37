import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { SshTarget } from "../../../../src/transport/config/target.js";
import { ConnectError } from "../../../../src/transport/connect-error.js";
import { describeKey } from "../../../../src/transport/trust/known-hosts.js";
import { hostNeedsOpenssh, loadHostKeyCheck } from "../../../../src/transport/trust/known-hosts-file.js";
import { aTarget } from "../a-target.js";

let dir = "";
let own = "";
let notes: string[] = [];
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "sshoal-home-"));
  own = join(dir, ".ssh", "known_hosts");
  notes = [];
});
afterEach(() => rm(dir, { recursive: true, force: true }));

function key(name: string, type = "ssh-ed25519"): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(type.length);
  return Buffer.concat([length, Buffer.from(type), Buffer.from(name)]);
}

function line(hosts: string, of: Buffer): string {
  return `${hosts} ${describeKey(of).split(" ")[0]} ${of.toString("base64")}\n`;
}

function load(parts: Partial<SshTarget> = {}) {
  const target = aTarget({ host: "GPU1", userKnownHosts: [own], ...parts });
  return loadHostKeyCheck(target, { onNote: (note) => notes.push(note) });
}

async function write(name: string, text: string): Promise<string> {
  const file = join(dir, name);
  await writeFile(file, text);
  return file;
}

function refusalOf(act: () => void): ConnectError {
  try {
    act();
  } catch (error) {
    if (error instanceof ConnectError) return error;
    throw error;
  }
  throw new Error("was not refused");
}

describe("a new host", () => {
  test("is stored only after it has proven its key, and only once", async () => {
    const hostKeys = await load();
    expect(hostKeys.shown()).toBeNull();
    hostKeys.check(key("a"));
    expect(hostKeys.shown()).toBe(describeKey(key("a")));
    await expect(readFile(own)).rejects.toThrow("ENOENT");
    await hostKeys.remember();
    hostKeys.check(key("a"));
    await hostKeys.remember();
    expect(await readFile(own, "utf8")).toBe(line("gpu1", key("a")));
    expect((await stat(own)).mode & 0o777).toBe(0o600);
    expect(notes).toEqual([`new host gpu1, key ${describeKey(key("a"))}: added to ${own}`]);
  });

  test("cannot change its key on the same connection", async () => {
    const hostKeys = await load();
    hostKeys.check(key("a"));
    expect(() => hostKeys.check(key("b"))).toThrow(ConnectError);
  });

  test("is refused if only known hosts are accepted, with its key and what to type", async () => {
    const hostKeys = await load({ alias: "big", port: 2222, hostKeys: "strict", configFile: "/my config" });
    const error = refusalOf(() => hostKeys.check(key("a")));
    expect(error).toMatchObject({ kind: "host-key", isRetryable: false });
    expect(error.message).toBe(
      `big (GPU1:2222): is not in known_hosts, and only known hosts are accepted; its key is ${describeKey(key("a"))}`,
    );
    expect(error.hint).toBe(
      "if that is its key: ssh -o StrictHostKeyChecking=accept-new -F '/my config' -p 2222 me@big true; or --host-keys accept-new",
    );
    await hostKeys.remember();
    await expect(readFile(own)).rejects.toThrow("ENOENT");
  });

  test.each([["/dev/null"], []])("has no file to be stored in: %s", async (...userKnownHosts) => {
    const hostKeys = await load({ userKnownHosts });
    hostKeys.check(key("a"));
    await hostKeys.remember();
    expect(notes[0]).toMatch(/: not stored, because there is no known_hosts file$/);
  });

  test("is stored in the first of several files, which are all read", async () => {
    const second = await write("second", line("gpu2", key("b")));
    const first = await load({ userKnownHosts: [own, second] });
    first.check(key("a"));
    await first.remember();
    expect(await readFile(own, "utf8")).toBe(line("gpu1", key("a")));
    const other = await load({ host: "gpu2", userKnownHosts: [own, second], hostKeys: "strict" });
    expect(() => other.check(key("b"))).not.toThrow();
    expect(await readFile(second, "utf8")).toBe(line("gpu2", key("b")));
  });

  test("with a HostKeyAlias is stored and found under that, with any port", async () => {
    const parts = { hostKeyAlias: "Farm", port: 2222 };
    const hostKeys = await load(parts);
    hostKeys.check(key("a"));
    await hostKeys.remember();
    expect(await readFile(own, "utf8")).toBe(line("farm", key("a")));
    const again = await load({ ...parts, host: "elsewhere", hostKeys: "strict" });
    expect(() => again.check(key("a"))).not.toThrow();
    expect(refusalOf(() => again.check(key("b"))).hint).toContain("ssh-keygen -R 'farm'");
  });
});

describe("a host at another port", () => {
  test("may show the key under which it is known at the usual port", async () => {
    const file = await write("known", line("gpu1", key("a")));
    const hostKeys = await load({ port: 2222, userKnownHosts: [file], hostKeys: "strict" });
    expect(() => hostKeys.check(key("a"))).not.toThrow();
    await hostKeys.remember();
    expect(notes).toEqual([]);
  });

  test("is new with another key, not changed", async () => {
    const file = await write("known", line("gpu1", key("a")));
    const hostKeys = await load({ port: 2222, userKnownHosts: [file] });
    hostKeys.check(key("b"));
    await hostKeys.remember();
    expect(await readFile(file, "utf8")).toBe(line("gpu1", key("a")) + line("[gpu1]:2222", key("b")));
  });

  test("must not show a key that is revoked for it", async () => {
    const file = await write("known", `@revoked ${line("gpu1", key("a"))}`);
    const hostKeys = await load({ port: 2222, userKnownHosts: [file] });
    expect(refusalOf(() => hostKeys.check(key("a"))).message).toContain(`is revoked by ${file}:1`);
  });

  test("is asked for the types that it is known by at the usual port", async () => {
    const file = await write("known", line("gpu1", key("a", "ecdsa-sha2-nistp384")));
    expect((await load({ port: 2222, userKnownHosts: [file] })).algorithms[0]).toBe("ecdsa-sha2-nistp384");
  });
});

test("a changed key is refused with both fingerprints, the place, and the command that fixes it", async () => {
  const file = await write("known", `# mine\n${line("gpu1", key("a"))}`);
  const [ofUser, ofSystem] = [
    await load({ userKnownHosts: [file] }),
    await load({ globalKnownHosts: [file], hostKeys: "strict" }),
  ];
  const error = refusalOf(() => ofUser.check(key("b")));
  expect(error).toMatchObject({ kind: "host-key", isRetryable: false });
  expect(error.message).toBe(
    `GPU1:22: its host key is now ${describeKey(key("b"))}, not the ${describeKey(key("a"))} in ${file}:2`,
  );
  expect(error.hint).toBe(`if the machine was reinstalled: ssh-keygen -R 'gpu1' -f ${file}`);
  // Only root can fix the system's file.
  expect(refusalOf(() => ofSystem.check(key("b"))).hint).toContain(": sudo ssh-keygen -R ");
});

test("if known_hosts cannot be read, every host is refused", async () => {
  await mkdir(own, { recursive: true });
  await expect(load()).rejects.toMatchObject({ kind: "host-key", isRetryable: false });
});

test("an authority for the host needs OpenSSH, and is named", async () => {
  const file = await write("known", `@cert-authority ${line("*.lab", key("ca"))}`);
  const needs = (host: string, port = 22) =>
    hostNeedsOpenssh(aTarget({ host, port, userKnownHosts: [file] }));
  expect(await needs("gpu1.lab")).toEqual([`${file}:1 lists it with a certificate authority`]);
  expect(await needs("gpu1.home")).toEqual([]);
});
