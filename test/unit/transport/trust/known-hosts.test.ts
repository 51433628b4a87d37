import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  checkHostKey,
  fingerprint,
  foreignKeyOf,
  formatKnownHost,
  hostEntry,
  matchesHost,
  parseKnownHosts,
  signatureAlgorithms,
} from "../../../../src/transport/trust/known-hosts.js";
import { aHardwareKey } from "../hardware-key.js";

let dir = "";
const keys: Record<"a" | "b" | "rsa" | "ecdsa", string> = { a: "", b: "", rsa: "", ecdsa: "" };

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), "sshoal-known-"));
  const types = { a: "ed25519", b: "ed25519", rsa: "rsa", ecdsa: "ecdsa" };
  for (const [name, type] of Object.entries(types)) {
    const path = join(dir, name);
    execFileSync("ssh-keygen", ["-q", "-t", type, "-N", "", "-C", "", "-f", path]);
    keys[name as keyof typeof keys] = readFileSync(`${path}.pub`, "utf8").trim();
  }
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

function raw(name: keyof typeof keys): Buffer {
  return Buffer.from(keys[name].split(" ")[1] ?? "", "base64");
}

function check(text: string, entry: string, name: keyof typeof keys) {
  return checkHostKey(parseKnownHosts(text, "known_hosts"), entry, raw(name));
}

/** The line numbers that ssh-keygen -F finds. */
function keygenFinds(file: string, entry: string): number[] {
  const { stdout } = spawnSync("ssh-keygen", ["-F", entry, "-f", file], { encoding: "utf8" });
  return [...stdout.matchAll(/found: line (\d+)/g)].map((match) => Number(match[1]));
}

function bracket(pattern: string): string {
  return pattern.startsWith("!") ? `![${pattern.slice(1)}]:2222` : `[${pattern}]:2222`;
}

describe("agrees with ssh-keygen -F", () => {
  const patterns = [
    "gpu1",
    "GPU2.Lab",
    "gpu1,10.0.0.7",
    "[gpu1]:2222",
    "*.lab",
    "gpu?",
    "!gpu1,*",
    "*,!gpu1",
    "*.lab,!old.lab",
    "[*.lab]:2222",
    "[*]:*",
    "2001:db8::1",
    "[2001:db8::1]:2222",
    "a.b",
  ];
  const hosts = [
    "gpu1",
    "gpu2.lab",
    "GPU2.lab",
    "gpu12",
    "10.0.0.7",
    "old.lab",
    "x.lab",
    "2001:db8::1",
    "axb",
    "a.b",
  ];
  const entries = hosts.flatMap((host) => [hostEntry(host, 22), hostEntry(host, 2222)]);

  test.each(["plain", "hashed"])("%s", (form) => {
    const file = join(dir, `known_${form}`);
    writeFileSync(file, patterns.map((pattern) => `${pattern} ${keys.a}\n`).join(""));
    if (form === "hashed") spawnSync("ssh-keygen", ["-H", "-f", file]);
    const known = parseKnownHosts(readFileSync(file, "utf8"), file);
    if (form === "hashed")
      expect(known.filter((line) => line.hosts.startsWith("|1|")).length).toBeGreaterThan(5);
    for (const entry of entries) {
      const found = known.filter((line) => matchesHost(line, entry)).map((line) => line.line);
      expect([entry, found]).toEqual([entry, keygenFinds(file, entry)]);
    }
  });

  test("for any patterns", () => {
    // Few letters, so that patterns and hosts match often.
    const name = fc.stringMatching(/^[abA.]{1,4}$/);
    const pattern = fc.stringMatching(/^!?[abA.*?]{1,4}$/);
    const host = fc.oneof(pattern, pattern.map(bracket), fc.constantFrom("*", "10.0.0.?", "!*", "[*]:*"));
    const lines = fc.array(fc.array(host, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 12 });
    const file = join(dir, "known_any");
    fc.assert(
      fc.property(lines, name, fc.constantFrom(22, 2222), (lists, wanted, port) => {
        const entry = hostEntry(wanted, port);
        writeFileSync(file, lists.map((list) => `${list.join(",")} ${keys.a}\n`).join(""));
        const known = parseKnownHosts(readFileSync(file, "utf8"), file);
        const found = known.filter((line) => matchesHost(line, entry)).map((line) => line.line);
        expect(found).toEqual(keygenFinds(file, entry));
      }),
      { numRuns: 100 },
    );
  });

  test("a line of ours", () => {
    const file = join(dir, "known_ours");
    writeFileSync(file, formatKnownHost(hostEntry("GPU1", 2222), raw("ecdsa")));
    expect(keygenFinds(file, "[gpu1]:2222")).toEqual([1]);
    expect(readFileSync(file, "utf8")).toBe(`[gpu1]:2222 ${keys.ecdsa}\n`);
  });
});

test.each(["a", "rsa", "ecdsa"] as const)("the fingerprint is the one ssh-keygen -l prints (%s)", (name) => {
  const printed = execFileSync("ssh-keygen", ["-lf", join(dir, `${name}.pub`)], { encoding: "utf8" });
  expect(printed.split(" ")[1]).toBe(fingerprint(raw(name)));
});

test("comments, blank lines and other lines that are no entries are skipped", () => {
  const lines = [
    `# gpu1 ${keys.a}`,
    "",
    "   ",
    "gpu1",
    "gpu1 ssh-ed25519",
    `@strange gpu1 ${keys.a}`,
    "gpu1 ssh-ed25519 AAAA",
    `gpu1 ssh-rsa ${keys.a.split(" ")[1]}`,
    `  gpu1\t${keys.a} me@home\r`,
  ];
  const text = `${lines.join("\n")}\n`;
  expect(parseKnownHosts(text, "f").map(({ line, hosts }) => [line, hosts])).toEqual([[9, "gpu1"]]);
  expect(check(text, "gpu1", "a")).toEqual({ kind: "trusted" });
});

test("a host without a line is new", () => {
  expect(check(`gpu1 ${keys.a}\n`, "gpu2", "a")).toEqual({ kind: "new" });
  expect(check(`gpu1 ${keys.a}\n`, "[gpu1]:2222", "a")).toEqual({ kind: "new" });
  expect(check(`@cert-authority gpu1 ${keys.a}\n`, "gpu1", "b")).toEqual({ kind: "new" });
});

test("any of several keys is accepted", () => {
  const text = `gpu1 ${keys.rsa}\ngpu1 ${keys.a}\ngpu1 ${keys.b}\n`;
  expect(check(text, "gpu1", "a").kind).toBe("trusted");
  expect(check(text, "gpu1", "b").kind).toBe("trusted");
});

test("another key of the same type is a change, and the line of the old key is named", () => {
  const verdict = check(`gpu1 ${keys.rsa}\ngpu1 ${keys.a}\n`, "gpu1", "b");
  expect(verdict).toMatchObject({ kind: "changed", by: { file: "known_hosts", line: 2 } });
});

test("a key of a new type is also a change", () => {
  expect(check(`gpu1 ${keys.rsa}\n`, "gpu1", "a")).toMatchObject({ kind: "changed", by: { line: 1 } });
});

test("known only by a type that cannot be requested: new", () => {
  expect(check("gpu1 ssh-dss AAAAB3NzaC1kc3MAAAAA\n", "gpu1", "a")).toEqual({ kind: "new" });
});

test("a revoked key is refused, even when another line trusts it", () => {
  const text = `gpu1 ${keys.a}\n@revoked * ${keys.a}\n`;
  expect(check(text, "gpu1", "a")).toMatchObject({ kind: "revoked", by: { line: 2 } });
  expect(check(`@revoked * ${keys.b}\n`, "gpu1", "a")).toEqual({ kind: "new" });
});

test("an authority or a hardware key needs OpenSSH, unless a plain key is known, too", () => {
  const authority = `@cert-authority *.lab ${keys.a}\n`;
  const foreign = (text: string, entry: string) => foreignKeyOf(parseKnownHosts(text, "f"), entry)?.line;
  expect(foreign(authority, "gpu1.lab")).toBe(1);
  expect(foreign(authority, "gpu1")).toBeUndefined();
  expect(foreign(`${authority}gpu1.lab ${keys.rsa}\n`, "gpu1.lab")).toBeUndefined();
  expect(foreign(`${authority}@revoked gpu1.lab ${keys.rsa}\n`, "gpu1.lab")).toBe(1);
  expect(foreign(`# none\ngpu1 ${aHardwareKey().publicText}`, "gpu1")).toBe(2);
  expect(foreign(`gpu1 ${keys.a}\n`, "gpu1")).toBeUndefined();
});

test("types that the host is known by are requested first", () => {
  const known = parseKnownHosts(`gpu1 ${keys.rsa}\ngpu2 ${keys.ecdsa}\n@revoked gpu1 ${keys.ecdsa}\n`, "f");
  expect(signatureAlgorithms(known, "gpu1").slice(0, 4)).toEqual([
    "rsa-sha2-512",
    "rsa-sha2-256",
    "ssh-rsa",
    "ssh-ed25519",
  ]);
  expect(signatureAlgorithms(known, "gpu3")[0]).toBe("ssh-ed25519");
  expect(signatureAlgorithms(known, "gpu2")[0]).toBe("ecdsa-sha2-nistp256");
});
