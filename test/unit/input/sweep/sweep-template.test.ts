// biome-ignore-all lint/suspicious/noTemplateCurlyInString: they are bash's

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isName, parseTemplate } from "../../../../src/input/sweep/sweep-template.js";
import { parseSweepWords } from "../../../../src/input/sweep/sweep-words.js";

/** Shows placeholders as <name>, and the rest of the text. */
function read(text: string): string {
  return parseTemplate(text)
    .template.map((piece) =>
      typeof piece === "string" ? piece : `<${piece.name}${piece.isRaw ? " raw" : ""}>`,
    )
    .join("");
}

describe("placeholders", () => {
  test.each([
    ["--lr {lr} --bs {bs}", "--lr <lr> --bs <bs>"],
    ["{a}{b}", "<a><b>"],
    ["{lr!r}", "<lr raw>"],
    ["{a-b} {a.b} {_a1}", "<a-b> <a.b> <_a1>"],
    ["'{a}' \"{b}\"", "'<a>' \"<b>\""],
    ['\'{"a": {"b": {b}}}\'', '\'{"a": {"b": <b>}}\''],
    ["{1..{n}}", "{1..<n>}"],
  ])("%s", (text, expected) => expect(read(text)).toBe(expected));
});

describe("literal braces", () => {
  test.each([
    ["{{lr}}", "{lr}"],
    ["{{{lr}}}", "{<lr>}"],
    ["{{ }}", "{ }"],
    ["'{{\"a\": {a}}}'", "'{\"a\": <a>}'"],
    ["{{{{a,b}},c}}", "{{a,b},c}"],
    ["a }} b", "a } b"],
  ])("%s", (text, expected) => expect(read(text)).toBe(expected));
});

describe("braces of bash are kept", () => {
  test.each([
    "${HOME} ${x:-${y}} ${#a} \"${a[@]}\" '${b}'",
    "{1..3} {a..c} {a,b} {x,{y,z}} {a,}",
    "{ echo a; } && f() { g; }",
    "find . -exec ls {} \\; | xargs -I{} echo {}",
    "awk '{print $1}'",
    "\\{lr\\} \\${lr}",
    "{0} {lr :x} {a b}",
    "${x:-{1..3}}",
    "${a}${b}}",
  ])("%s", (text) => expect(read(text)).toBe(text));

  test("any text without two braces in a row and without a placeholder is kept", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom("{", "}", "$", " ", "'", '"', "\\", ",", "1") }),
        (text) => {
          fc.pre(!/\{\{|\}\}/.test(text));
          expect(read(text)).toBe(text);
        },
      ),
    );
  });
});

test("text that only looks like a placeholder is reported", () => {
  expect(parseTemplate("{lr:.3f} {lr!s} {a:b,c}").malformed).toEqual([
    { text: "{lr:.3f}", name: "lr" },
    { text: "{lr!s}", name: "lr" },
  ]);
});

test.each([
  ["lr", true],
  ["weight-decay", true],
  ["model.depth", true],
  ["_x1", true],
  ["", false],
  ["1x", false],
  ["a b", false],
  ["a..b", false],
  ["-a", false],
  ["a-", false],
])("%j as a name: %s", (text, expected) => expect(isName(text)).toBe(expected));

describe("names of resources", () => {
  const template = (command: string, ...parameters: string[][]) =>
    parseSweepWords(command, parameters, new Set(["gpu", "nvme"])).template.map((piece) =>
      typeof piece === "string" ? piece : `<${piece.name}>`,
    );

  test("stay for the machine to replace", () => {
    expect(template("a {gpu} '{nvme}' {lr}", ["lr", "1"])).toEqual([
      "a ",
      "{gpu}",
      " '",
      "{nvme}",
      "' ",
      "<lr>",
    ]);
  });

  test("are parameters if the sweep has such ones", () => {
    expect(template("a {gpu}", ["gpu", "1"])).toEqual(["a ", "<gpu>"]);
  });

  test("do not take a width", () => {
    expect(() => template("a {gpu:0>4} {lr}", ["lr", "1"])).toThrow("{gpu} is no parameter");
  });
});
