import { describe, expect, test } from "vitest";
import { parseKeys, press } from "../../../../src/cli/terminal/key-press.js";

describe("keys in the bytes of a terminal", () => {
  test.each([
    ["d", ["d"]],
    ["qs", ["q", "s"]],
    ["\x1b", ["\x1b"]],
    ["\x1b[D", []],
    ["\x1b[1;5C\x1bOPd", ["d"]],
    // Alt with a letter is not that letter.
    ["\x1bd", []],
  ])("%j", (text, keys) => expect(parseKeys(text)).toEqual(keys));
});

describe("what a key does", () => {
  test.each([
    ["d", "hint", "no", "detaching", "detach"],
    ["d", "leave", "no", "detaching", "detach"],
    ["d", "detaching", "no", "detaching", "detach"],
    ["d", "hint", "drain", "detaching", "detach"],
    ["q", "hint", "no", "leave", null],
    ["q", "leave", "no", "hint", null],
    ["\x1b", "leave", "no", "hint", null],
    ["r", "leave", "no", "hint", "drain"],
    ["s", "leave", "no", "hint", "stop"],
    ["x", "leave", "no", "leave", null],
    ["?", "hint", "no", "list", null],
    ["?", "list", "no", "hint", null],
    ["q", "list", "no", "leave", null],
    ["c", "hint", "drain", "hint", "continue"],
    ["c", "hint", "paused", "hint", "continue"],
    ["c", "leave", "paused", "leave", null],
    ["q", "hint", "paused", "leave", null],
    ["s", "leave", "paused", "hint", "stop"],
    ["s", "hint", "drain", "hint", "stop"],
    ["s", "leave", "drain", "hint", "stop"],
    ["\x03", "leave", "no", "hint", "interrupt"],
    ["\x1a", "hint", "stop", "hint", "suspend"],
    // A letter stops nothing unless the question was asked.
    ["s", "hint", "no", "hint", null],
    ["r", "hint", "no", "hint", null],
    ["c", "hint", "no", "hint", null],
    ["c", "hint", "stop", "hint", null],
  ] as const)("%j while %s, interrupted: %s", (key, mode, interrupted, next, action) => {
    expect(press(key, mode, interrupted)).toEqual({ mode: next, action });
  });
});
