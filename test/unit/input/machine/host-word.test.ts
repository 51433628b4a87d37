import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isDoubtful, parseHostWord } from "../../../../src/input/machine/host-word.js";
import { parseAliases } from "../../../../src/input/machine/ssh-aliases.js";

describe("words that name a machine", () => {
  test.each<[string, string, number | null, string | null]>([
    ["gpu1", "gpu1", null, null],
    ["GPU_1.lab-2", "GPU_1.lab-2", null, null],
    ["gpu+1", "gpu+1", null, null],
    ["münchen.example", "münchen.example", null, null],
    ["ada@gpu1", "gpu1", null, "ada"],
    ["ada@lab.org@gpu1", "gpu1", null, "ada@lab.org"],
    ["LAB\\ada@gpu1", "gpu1", null, "LAB\\ada"],
    ["gpu1:2222", "gpu1", 2222, null],
    ["ada@gpu1:22", "gpu1", 22, "ada"],
    ["192.0.2.1", "192.0.2.1", null, null],
    ["::1", "::1", null, null],
    ["ada@fe80::1%eth0", "fe80::1%eth0", null, "ada"],
    ["[::1]", "::1", null, null],
    ["ada@[2001:db8::1]:65535", "2001:db8::1", 65535, "ada"],
    ["ssh://gpu1", "gpu1", null, null],
    ["SSH://ada@gpu1:22/", "gpu1", 22, "ada"],
    ["ssh://ada@[::1]:22", "::1", 22, "ada"],
  ])("%s", (word, host, port, username) => {
    expect(parseHostWord(word)).toEqual({ host, port, username });
  });

  test.each([
    "",
    "@",
    "ada@",
    "@gpu1",
    ":22",
    "gpu1:",
    "gpu1:0",
    "gpu1:65536",
    "gpu1:022222",
    "gpu1:22:22",
    "gpu1:x",
    "[gpu1]:22",
    "[::1",
    "::1]",
    "[]:22",
    "[::1]22",
    "a:b:c",
    "ssh://",
    "ssh://a/b",
    "http://a",
    "a/b",
    "~/a",
    "a b",
    "a\tb",
    "a\u200bb",
    "-a",
    "ada@-a",
    "-a@gpu1",
    "a$(x)",
    "a;b",
    "`a`",
    "a|b@gpu1",
    "a'b",
    "*",
    "gpu?",
  ])("%j is not a host", (word) => {
    expect(parseHostWord(word)).toBeNull();
  });

  test("no result can be mistaken for an option or shell syntax", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (word) => {
        const { host = "", username = null } = parseHostWord(word) ?? {};
        for (const part of [host, username ?? ""]) expect(part).not.toMatch(/^-|[\s'"`$;&<>|(){}\p{C}]/u);
      }),
    );
  });
});

test.each([
  ["gpu1", true],
  ["jobs", true],
  ["ada@gpu1", false],
  ["gpu1:22", false],
  ["gpu1.lab", false],
  ["::1", false],
])("%s could be a mistyped machine file: %s", (word, expected) => {
  const host = parseHostWord(word);
  expect(host !== null && isDoubtful(host)).toBe(expected);
});

test("the aliases of a configuration, without its patterns", () => {
  const text = [
    "# Host comment",
    "Host gpu1 gpu2 # the lab's",
    "  HostName 192.0.2.1",
    '\thost="quoted"',
    "HOST = equals",
    "Host * gpu? !gpu3 gpu1",
    "HostKeyAlias no",
    "Match host other",
  ].join("\r\n");
  expect(parseAliases(text)).toEqual(["gpu1", "gpu2", "quoted", "equals"]);
});
