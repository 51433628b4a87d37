import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ExitCode, UserError } from "../../../../src/errors.js";
import { bashAt } from "../../../../src/input/batch/ask-bash.js";
import { parseBatch } from "../../../../src/input/batch/batch-file.js";

async function commandsByLine(content: string | Uint8Array): Promise<Record<number, string>> {
  const { jobs } = await parseBatch(content, "run.sh", bashAt("bash"));
  return Object.fromEntries(jobs.map(({ line, command }) => [line, command]));
}

async function errorOf(content: string | Uint8Array, bash = "bash"): Promise<UserError> {
  try {
    await parseBatch(content, "dir/run.sh", bashAt(bash));
  } catch (error) {
    if (error instanceof UserError) return error;
    throw error;
  }
  throw new Error("expected a UserError");
}

test("a job has its line, its name and its command", async () => {
  expect((await parseBatch("echo one\necho two\n", "./dir/run.sh", bashAt("bash"))).jobs).toEqual([
    { id: 1, line: 1, name: "dir_run.sh.1", command: "echo one" },
    { id: 2, line: 2, name: "dir_run.sh.2", command: "echo two" },
  ]);
});

describe("one job per line, numbered as in the file", () => {
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
    ["bash syntax is kept", "a && b | c > 'd e' &\n", { 1: "a && b | c > 'd e' &" }],
    ["letters of any alphabet", "echo größe 実験\n", { 1: "echo größe 実験" }],
    ["other line separators are text", "a\u2028b\u0085c\vd\n", { 1: "a\u2028b\u0085c\vd" }],
    ["an escaped backslash at the end", "echo a\\\\\nb\n", { 1: "echo a\\\\", 2: "b" }],
    ["a comment that ends with a backslash", "# a \\\nb\n", { 2: "b" }],
  ])("%s", async (_, text, expected) => {
    expect(await commandsByLine(text)).toEqual(expected);
    expect(await commandsByLine(Buffer.from(text))).toEqual(expected);
  });

  test("very long lines", async () => {
    const long = `echo ${"x".repeat(2_000_000)}`;
    expect(await commandsByLine(`${long}\nb\n`)).toEqual({ 1: long, 2: "b" });
  });

  test("many lines, without asking bash", async () => {
    const { jobs } = await parseBatch("a\n".repeat(100_000), "run.sh", bashAt("no-such-bash"));
    expect(jobs.at(-1)).toEqual({
      id: 100_000,
      line: 100_000,
      name: "run.sh.100000",
      command: "a",
    });
  });

  test("a job's line always points at its command in the file", async () => {
    const anyLine = fc.oneof(
      fc.string({ unit: "grapheme" }).map((text) => `echo ${text.replace(/[^\p{L}\p{N} ]/gu, "")}`),
      fc.constantFrom("", " ", "# c", "echo a", "\t#", "a \\\\"),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(anyLine), fc.constantFrom("\n", "\r\n"), async (lines, lineEnd) => {
        const isJob = (line: string) => line.trim() !== "" && !line.trim().startsWith("#");
        fc.pre(lines.some(isJob));
        const { jobs } = await parseBatch(lines.join(lineEnd), "run.sh", bashAt("bash"));
        for (const { id: line, command } of jobs) expect(lines[line - 1]).toBe(command);
        expect(jobs.length).toBe(lines.filter(isJob).length);
      }),
    );
  });
});

describe("a file that is not a batch is refused, with a hint", () => {
  test.each<[string, string | Uint8Array, RegExp, RegExp]>([
    ["an empty file", "", /^dir\/run\.sh: there is no job in it$/, /one command per line/],
    ["only a byte order mark", "\uFEFF", /no job/, /one command per line/],
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
  ])("%s", async (_, content, message, hint) => {
    const error = await errorOf(content);
    expect(error.message).toMatch(message);
    expect(error.hint).toMatch(hint);
    expect(error.exitCode).toBe(ExitCode.BadInput);
  });

  test("a file that bash refuses: every mistake, in bash's own words", async () => {
    const { message } = await errorOf("echo a)\necho fine\nfor x in 1 2; do\n  echo\n  fi\ndone\necho 'x\n");
    expect(message.split("\n")).toEqual([
      "dir/run.sh:1: syntax error near unexpected token `)' (bash -n dir/run.sh)",
      "dir/run.sh:5: syntax error near unexpected token `fi' (bash -n dir/run.sh)",
      "dir/run.sh:6: syntax error near unexpected token `done' (bash -n dir/run.sh)",
      "dir/run.sh:7: unexpected EOF while looking for matching `'' (bash -n dir/run.sh)",
    ]);
  });

  test.each([
    ["a loop", "echo a\n\nfor x in 1; do\n  echo\n", /^dir\/run\.sh:3: syntax error: unexpected end of file/],
    ["a here-document", "cat <<END\nend\n", /^dir\/run\.sh:1: here-document .* \(wanted `END'\)/],
    ["a backslash", "echo a\necho b \\", /^dir\/run\.sh:2: there is no line after the backslash/],
    [
      "a stray quote in a long file",
      `echo it's\n${"echo 'a' \"b\"\n".repeat(5000)}`,
      /^dir\/run\.sh:1: unexpected EOF while looking for matching `''/,
    ],
  ])("a file that ends within %s", async (_, content, message) => {
    expect((await errorOf(content)).message).toMatch(message);
  });

  test("without bash, a line that only bash can judge is an error", async () => {
    const { message } = await errorOf("echo a\nfor x in 1; do echo; done\n", "no-such-bash");
    expect(message).toMatch(
      /^dir\/run\.sh:2: only bash can decide .* no bash on this computer \(install bash/,
    );
  });
});
