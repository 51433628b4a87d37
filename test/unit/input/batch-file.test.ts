import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ExitCode, UserError } from "../../../src/errors.js";
import { parseBatch } from "../../../src/input/batch-file.js";

function commandsByLine(content: string | Uint8Array): Record<number, string> {
  return Object.fromEntries(parseBatch(content, "run.sh").map(({ line, command }) => [line, command]));
}

function errorOf(content: string | Uint8Array): UserError {
  try {
    parseBatch(content, "dir/run.sh");
  } catch (error) {
    if (error instanceof UserError) return error;
    throw error;
  }
  throw new Error("expected a UserError");
}

test("a job knows its line, its name and its command", () => {
  expect(parseBatch("echo one\necho two\n", "./dir/run.sh")).toEqual([
    { line: 1, name: "dir_run.sh.1", command: "echo one" },
    { line: 2, name: "dir_run.sh.2", command: "echo two" },
  ]);
});

describe("one job a line, numbered as in the file", () => {
  test.each([
    ["no newline at the end", "a\nb", { 1: "a", 2: "b" }],
    ["blank lines are no jobs", "\na\n\n  \t\nb\n", { 2: "a", 5: "b" }],
    ["comments and a shebang are no jobs", "#!/bin/bash\n  # why\na # kept\n", { 3: "a # kept" }],
    ["a # within a command is no comment", "echo '#'\n", { 1: "echo '#'" }],
    ["Windows line ends", "a\r\n\r\nb\r\n", { 1: "a", 3: "b" }],
    ["Windows line ends, cut off", "a\r\nb\r", { 1: "a", 2: "b" }],
    ["a byte order mark", "\uFEFFa\n", { 1: "a" }],
    ["a byte order mark before a comment", "\uFEFF# x\na\n", { 2: "a" }],
    ["indentation and trailing blanks are kept", "  a b  \n", { 1: "  a b  " }],
    ["bash syntax is left alone", "a && b | c > 'd e' &\n", { 1: "a && b | c > 'd e' &" }],
    ["letters of any alphabet", "echo größe 実験\n", { 1: "echo größe 実験" }],
    ["other line separators are text", "a\u2028b\u0085c\vd\n", { 1: "a\u2028b\u0085c\vd" }],
    ["an escaped backslash at the end", "echo a\\\\\nb\n", { 1: "echo a\\\\", 2: "b" }],
    ["a comment that ends with a backslash", "# a \\\nb\n", { 2: "b" }],
  ])("%s", (_, text, expected) => {
    expect(commandsByLine(text)).toEqual(expected);
    expect(commandsByLine(Buffer.from(text))).toEqual(expected);
  });

  test("very long lines", () => {
    const long = `echo ${"x".repeat(2_000_000)}`;
    expect(commandsByLine(`${long}\nb\n`)).toEqual({ 1: long, 2: "b" });
  });

  test("many lines", () => {
    expect(parseBatch("a\n".repeat(100_000), "run.sh").at(-1)).toEqual({
      line: 100_000,
      name: "run.sh.100000",
      command: "a",
    });
  });

  test("a job's line always points at its command in the file", () => {
    const anyLine = fc.oneof(
      fc.string({ unit: "grapheme" }),
      fc.constantFrom("", " ", "# c", "echo a", "\t#", "a \\\\"),
    );
    fc.assert(
      fc.property(fc.array(anyLine), fc.constantFrom("\n", "\r\n"), (lines, lineEnd) => {
        const clean = lines.map((line) => line.replace(/[\r\n\0\uFEFF]|\\$/g, "").replace(/\\+$/, ""));
        fc.pre(clean.some((line) => line.trim() !== "" && !line.trim().startsWith("#")));
        const jobs = parseBatch(clean.join(lineEnd), "run.sh");
        for (const { line, command } of jobs) expect(clean[line - 1]).toBe(command);
        const isJob = (line: string) => line.trim() !== "" && !line.trim().startsWith("#");
        expect(jobs.length).toBe(clean.filter(isJob).length);
      }),
    );
  });
});

describe("what is no batch is refused, with what to do", () => {
  test.each<[string, string | Uint8Array, RegExp, RegExp]>([
    ["an empty file", "", /^dir\/run\.sh: there is no job in it$/, /one command a line/],
    ["only a byte order mark", "\uFEFF", /no job/, /one command a line/],
    ["only comments and blanks", "#!/bin/sh\n\n# x\n", /no job/, /lines that begin with #/],
    ["a NUL byte", "echo a\necho \0\n", /^dir\/run\.sh:2: is binary/, /text file/],
    [
      "a program",
      Buffer.from("\x7fELF\x02\x01\x01\0\0\0", "latin1"),
      /^dir\/run\.sh:1: is binary/,
      /text file/,
    ],
    [
      "Latin-1",
      Buffer.from("echo a\necho gr\xf6\xdfe\n", "latin1"),
      /^dir\/run\.sh:2: is not UTF-8$/,
      /as UTF-8/,
    ],
    ["Latin-1, cut off", Buffer.from("a\nb\n\xf6", "latin1"), /^dir\/run\.sh:3: is not UTF-8$/, /as UTF-8/],
    ["UTF-16", Buffer.from("\uFEFFecho a\n", "utf16le"), /^dir\/run\.sh:1: is UTF-16/, /as UTF-8/],
  ])("%s", (_, content, message, hint) => {
    const error = errorOf(content);
    expect(error.message).toMatch(message);
    expect(error.hint).toMatch(hint);
    expect(error.exitCode).toBe(ExitCode.BadInput);
  });

  test("commands spread over lines: each of them is named", () => {
    const { message } = errorOf(
      "python train.py \\\n  --lr 3\necho fine\npython b.py \\\r\n  --lr 4 \\\n  --x\n",
    );
    expect(message.split("\n").map((line) => line.split(": ")[0])).toEqual([
      "dir/run.sh:1",
      "dir/run.sh:4",
      "dir/run.sh:5",
    ]);
    expect(message).toMatch(/ends with a backslash.*\(write the whole job in one line\)/);
  });
});
