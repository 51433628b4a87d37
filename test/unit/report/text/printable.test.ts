import { describe, expect, test } from "vitest";
import { lastSaid, printable } from "../../../../src/report/text/printable.js";

describe("printable", () => {
  test.each([
    ["plain text stays", "echo 'é 日本語 🎉'", "echo 'é 日本語 🎉'"],
    ["a tab stays", "a\tb", "a\tb"],
    ["escape sequences show instead of acting", "\x1b[2J\x1b]0;title\x07", "\\x1b[2J\\x1b]0;title\\x07"],
    ["one line stays one line", "a\nb\r\nc", "a\\nb\\r\\nc"],
    ["the 8-bit control characters too", "\x9b31m\x85\x7f", "\\x9b31m\\x85\\x7f"],
    ["Unicode line separators", "a\u2028b", "a\\u2028b"],
    ["characters that change the reading direction", "\u202egnp.sh", "\\u202egnp.sh"],
    ["half of a surrogate pair", "a\ud800b", "a\\ud800b"],
  ])("%s", (_, text, shown) => {
    expect(printable(text)).toBe(shown);
  });
});

describe("lastSaid", () => {
  test.each([
    ["colours are dropped", "\x1b[32mok\x1b[0m done", "ok done"],
    ["a progress bar shows what it drew last", "10%\r 20%\r 30%", " 30%"],
    ["a progress bar that ended its line", "99%\r100%\r\n", "100%"],
    ["invisible text is empty", "\x1b[0m \r\n", ""],
    ["remaining control characters are escaped", "bell\x07", "bell\\x07"],
  ])("%s", (_, text, shown) => {
    expect(lastSaid(text)).toBe(shown);
  });

  test("a very long line is cut", () => {
    expect(lastSaid("x".repeat(1_000_000))).toHaveLength(1000);
  });
});
