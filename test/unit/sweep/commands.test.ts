// biome-ignore-all lint/suspicious/noTemplateCurlyInString: they are bash's

import { execFileSync } from "node:child_process";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { aSweep, commandsOf } from "./a-sweep.js";

/** A job is one line: no line ends in values. */
const value = fc
  .oneof(
    fc.string({ unit: "grapheme" }),
    fc.string({
      unit: fc.constantFrom("'", '"', "\\", "$", "`", " ", "!", "a", "*", "{", "}", ",", "~", "#", "="),
    }),
  )
  .map((text) => text.replace(/[\0\n\r]/g, "?"));

function argvOf(line: string): string[] {
  return execFileSync("bash", ["--norc", "-c", `${line}\n`], { stdio: ["ignore", "pipe", "inherit"] })
    .toString()
    .split("\0")
    .slice(0, -1);
}

describe("bash reads a value as it was typed", () => {
  test.each([
    ["a word", "{v}", (v: string) => v],
    ["part of a word", "x{v}=y", (v: string) => `x${v}=y`],
    ["within double quotes", '"x {v} y"', (v: string) => `x ${v} y`],
    ["within single quotes", "'x {v} y'", (v: string) => `x ${v} y`],
    ["within a substitution", '"$(printf %s. {v})"', (v: string) => `${v}.`],
    ["within quotes within a substitution", '"$(printf %s. "{v}" \'(\')"', (v: string) => `${v}.(.`],
    ["within JSON", `'{"v": "{v}"}'`, (v: string) => `{"v": "${v}"}`],
    ["within doubled braces", "{{{v}}}", (v: string) => `{${v}}`],
    ["after an escaped quote", '\\"{v}', (v: string) => `"${v}`],
    ["as the default of an unset variable", "${unset:-{v}}", (v: string) => v],
  ])("%s", (_, place, expected) => {
    fc.assert(
      fc.property(value, (text) => {
        // If it is empty, it is no word as a variable's default.
        fc.pre(text !== "");
        const [line = ""] = commandsOf(aSweep(`printf '%s\\0' ${place} end`, [["v", text]]));
        expect(argvOf(line)).toEqual([expected(text), "end"]);
      }),
      { numRuns: 25 },
    );
  });

  test("several at once, also empty ones", () => {
    fc.assert(
      fc.property(value, value, (a, b) => {
        const parameters = [
          ["a", a],
          ["b", b],
        ];
        const [line = ""] = commandsOf(aSweep("printf '%s\\0' {a} {b} '{b}'\"{a}\"", parameters));
        expect(argvOf(line)).toEqual([a, b, b + a]);
      }),
      { numRuns: 25 },
    );
  });
});

describe("a value", () => {
  test("that is plain is printed as typed", () => {
    const plain = ["1e-4", "0.10", "-1", "007", "a/b.c", "x:y@z", "50%", "64,32"];
    expect(commandsOf(aSweep("t {v}", [["v", ...plain]]))).toEqual(plain.map((text) => `t ${text}`));
  });

  test("with !r is inserted unchanged; without quoting, every value is", () => {
    expect(commandsOf(aSweep("t {v!r} {v}", [["v", "~/a b"]]))).toEqual(["t ~/a b '~/a b'"]);
    expect(commandsOf(aSweep("t {v}", [["v", "~/a b"]]), { quotes: false })).toEqual(["t ~/a b"]);
  });

  test("between bash's braces is not split by a comma", () => {
    expect(commandsOf(aSweep("echo {x,{v}}", [["v", "a,b", "c"]]))).toEqual(["echo {x,'a,b'}", "echo {x,c}"]);
    expect(commandsOf(aSweep("echo {1..{v}}", [["v", "3"]]))).toEqual(["echo {1..3}"]);
  });

  test.each(["echo `ls {v}`", "echo $'{v}'", 'echo "${x:-{v}}"'])("cannot be quoted in %s", (command) => {
    expect(commandsOf(aSweep(command, [["v", "plain"]]))).toEqual([command.replace("{v}", "plain")]);
    expect(() => commandsOf(aSweep(command, [["v", "a b"]]))).toThrow(
      /^\{v\} stands within .*, where "a b" cannot/,
    );
    expect(commandsOf(aSweep(command.replace("{v}", "{v!r}"), [["v", "a b"]]))).toEqual([
      command.replace("{v}", "a b"),
    ]);
  });
});

describe("built-in parameters", () => {
  test("{i} is its line, from 1, also if shuffled", () => {
    const sweep = aSweep("{i} {v}", [["v", "a", "b", "c"]], { samplingMode: "shuffled_grid" });
    expect(commandsOf(sweep).map((line) => line.split(" ")[0])).toEqual(["1", "2", "3"]);
  });

  test("{seed} is different for each command, and the same for a seed", () => {
    const sweep = aSweep("{seed} {v!r}", [["v", "a", "b", "c"]], { seed: 9 });
    const seeds = commandsOf(sweep).map((line) => line.split(" ")[0]);
    expect(new Set(seeds).size).toBe(3);
    expect(commandsOf(sweep)).toEqual(commandsOf(sweep));
    expect(commandsOf({ ...sweep, seed: 10 })).not.toEqual(commandsOf(sweep));
  });

  test("a user's parameter of that name takes precedence", () => {
    expect(
      commandsOf(
        aSweep("{i} {seed}", [
          ["seed", "1", "2"],
          ["i", "x"],
        ]),
      ),
    ).toEqual(["x 1", "x 2"]);
  });
});
