import { describe, expect, test } from "vitest";
import { type AskBash, bashAt } from "../../../../src/input/batch/ask-bash.js";
import { JobSplitter, type Piece } from "../../../../src/input/batch/job-splitter.js";

async function split(text: string, ask: AskBash = bashAt("bash")): Promise<Piece[]> {
  const splitter = new JobSplitter(ask);
  return [...(await splitter.add(text.split("\n"))), ...(await splitter.end())];
}

async function commandsByLine(text: string): Promise<Record<number, string>> {
  const pieces = await split(text);
  return Object.fromEntries(
    pieces.flatMap((piece) => {
      if (piece.kind !== "job") return [];
      expect(piece.mistake).toBe(null);
      return [[piece.line, piece.command]];
    }),
  );
}

/** Counts questions. */
function counting(): { ask: AskBash; asked: () => number } {
  const bash = bashAt("bash");
  let count = 0;
  return {
    ask: (text) => {
      count += 1;
      return bash(text);
    },
    asked: () => count,
  };
}

describe("a command over several lines is one job, numbered by its first line", () => {
  test.each([
    ["a trailing backslash", "python a.py \\\n  --lr 3 \\\n  --x"],
    ["a trailing backslash in a word", "python a.py --l\\\nr 3"],
    ["a backslash before a blank line", "echo a \\\n"],
    ["double quotes", 'echo "a\n\n  # b\nc" d'],
    ["single quotes", "echo 'a\\\n\"\nc'"],
    ["quotes within quotes", 'echo "$(echo "a\nb")\nc"'],
    ["a here-document", "cat <<EOF\n# no comment\n\necho it's\nEOF"],
    ["a here-document with tabs", "cat <<-EOF\n\tx\n\tEOF"],
    ["a quoted here-document that ends with a backslash", "cat <<'EOF'\nx \\\nEOF"],
    ["two here-documents", "cat <<A - <<B\n1\nA\n2\nB"],
    ["a here-document within a loop", "for i in 1 2; do cat <<EOF\n$i\nEOF\ndone"],
    ["a here-document in a substitution that ends with the bracket", "echo $(cat <<EOF\nfoo\nEOF)"],
    ["the same within braces", "{ echo $(cat <<EOF\nfoo\nEOF)\n}"],
    ["parentheses", "(\ncd x\n\nmake\n)"],
    ["braces", "{\n  a\n  # why\n  b\n}"],
    ["for", "for i in 1 2\ndo\n  echo $i\ndone > out"],
    ["if", "if a\nthen\n  b\nelif c; then d\nelse\n  e\nfi"],
    ["while", "while read x; do\n  echo done\ndone < file"],
    ["case", "case $x in\n  a) echo a ;;\n  (b)\n    echo ;;\nesac"],
    ["a trailing pipe", "a |\n  b |\n\n  # c\n  d"],
    ["a trailing && or ||", "a &&\nb ||\nc"],
    ["a trailing && and a backslash", "a && \\\nb"],
    ["a function", "f()\n{\n  echo\n}"],
    ["an array", "x=(\n  a\n  b\n)"],
    ["a condition", "[[ a == a &&\n  b == b ]]"],
    ["arithmetic", "(( x +\n 1 ))"],
    ["a subscript with a blank", "x[1 +\n1]=3"],
    ["a word that closes, split by a backslash", "for i in 1; do\necho\ndo\\\nne"],
  ])("%s", async (_, command) => {
    const second = 4 + command.split("\n").length;
    expect(await commandsByLine(`# c\n\nbefore\n${command}\nafter\n`)).toEqual({
      3: "before",
      4: command,
      [second]: "after",
    });
  });

  test.each([
    ["a comment with a backslash", "echo a # b \\"],
    ["a comment with a quote", "echo a # it's"],
    ["reserved words that are arguments", "echo for if case { \\( [["],
    ["an escaped backslash", "echo a \\\\"],
    ["a here-string", "cat <<< EOF"],
    ["a shift", "echo $((1 << 2))"],
    ["a loop in one line", "for i in 1 2; do echo $i; done"],
  ])("one line: %s", async (_, command) => {
    expect(await commandsByLine(`${command}\nafter`)).toEqual({ 1: command, 2: "after" });
  });

  test("line ends of Windows", async () => {
    expect(await commandsByLine("cat <<EOF\r\na\r\nEOF\r\nb \\\r\nc\r\n")).toEqual({
      1: "cat <<EOF\na\nEOF",
      4: "b \\\nc",
    });
  });
});

describe("line by line", () => {
  test("a job is returned with its last line, and incomplete lines are reported", async () => {
    const splitter = new JobSplitter(bashAt("bash"));
    expect(await splitter.add(["a", 'echo "b'])).toMatchObject([{ line: 1, command: "a" }]);
    expect(splitter.held).toEqual({ line: 2, text: 'echo "b', waitsFor: 'a matching "' });
    expect(await splitter.add(["c"])).toEqual([]);
    expect(await splitter.add(['d"'])).toMatchObject([{ line: 2, command: 'echo "b\nc\nd"' }]);
    expect(splitter.held).toBe(null);
    expect(await splitter.add(["e"])).toMatchObject([{ line: 5, command: "e" }]);
  });

  test.each([
    ["cat <<END", "the line END of a here-document"],
    ["a \\", "the next line, after a backslash"],
    ["for x in 1; do", "the end of a command, such as done, fi or }"],
    ["a=$(b", "a matching )"],
  ])("%s waits for %s", async (line, waitsFor) => {
    const splitter = new JobSplitter(bashAt("bash"));
    await splitter.add([line]);
    expect(splitter.held?.waitsFor).toBe(waitsFor);
  });

  test("a mistake is a separate job, and the following lines are read on", async () => {
    expect(await split("a\necho )\nb\n{\nx\n;;\ny\n}\nc\ncat <<E\nx")).toMatchObject(
      [
        { line: 1, mistake: null },
        { line: 2, command: "echo )", mistake: { kind: "refused", line: 2, says: /unexpected token `\)'/ } },
        { line: 3, mistake: null },
        { line: 4, command: "{\nx\n;;", mistake: { kind: "refused", line: 6, says: /`;;'/ } },
        { line: 7, command: "y", mistake: null },
        { line: 8, command: "}", mistake: { kind: "refused" } },
        { line: 9, command: "c", mistake: null },
        { line: 10, command: "cat <<E\nx", mistake: { kind: "open", line: 10, says: /wanted `E'/ } },
      ].map((piece) => asMatching(piece)),
    );
  });

  test("bash is not asked without end about one job", async () => {
    const splitter = new JobSplitter(bashAt("bash"), 3);
    const [piece] = await splitter.add(["echo '", "''", "''", "''", "a"]);
    expect(piece).toMatchObject({ line: 1, mistake: { kind: "open", line: 1 } });
    expect(splitter.held).toBe(null);
  });

  test("without bash, plain lines are jobs and others are mistakes", async () => {
    expect(await split("a \\\nb\n(c)\nd", bashAt("no-such-bash"))).toMatchObject([
      { line: 1, command: "a \\\nb", mistake: null },
      { line: 3, command: "(c)", mistake: { kind: "no-bash", line: 3 } },
      { line: 4, command: "d", mistake: null },
    ]);
  });
});

function asMatching<T extends { mistake: null | { says?: RegExp } }>(piece: T) {
  const says = piece.mistake?.says;
  return says === undefined
    ? piece
    : { ...piece, mistake: { ...piece.mistake, says: expect.stringMatching(says) } };
}

describe("how often bash is asked", () => {
  test("never about plain lines", async () => {
    const { ask, asked } = counting();
    const lines = Array.from(
      { length: 10_000 },
      (_, n) => `A=${n} python "t $x.py" --lr '1' > \${o} 2>&1 | tee -a l && b; c & # d`,
    );
    expect(await split(lines.join("\n"), ask)).toHaveLength(10_000);
    expect(asked()).toBe(0);
  });

  test("once for many lines that are not plain", async () => {
    const { ask, asked } = counting();
    const lines = Array.from({ length: 200 }, (_, n) =>
      n % 3 === 0 ? `echo $(seq ${n})` : n % 3 === 1 ? `for i in ${n}; do a; done` : "\n# c",
    );
    expect(await split(lines.join("\n"), ask)).toHaveLength(134);
    expect(asked()).toBeLessThan(5);
  });

  test.each([
    ["a here-document", `cat <<EOF\n${'it\'s "here"\n'.repeat(1000)}EOF\n`],
    ["quotes", `python -c '\n${'print("a")\n'.repeat(1000)}'\n`],
    ["a loop", `for x in 1 2; do\n${"echo $x | cat\n".repeat(1000)}done\n`],
  ])("a few times for %s of a thousand lines", async (_, text) => {
    const { ask, asked } = counting();
    expect(await split(text, ask)).toHaveLength(1);
    expect(asked()).toBeLessThan(8);
  });
});

test("options belong to the job right below, or to no job", async () => {
  expect(await split("#!/bin/bash\n#@ --a\n#@--b\n\n  #@ --c\nx\n# y\n#@ --d")).toMatchObject([
    {
      kind: "options",
      options: [
        { line: 2, text: " --a" },
        { line: 3, text: "--b" },
      ],
    },
    { kind: "job", line: 6, options: [{ line: 5, text: " --c" }] },
    { kind: "options", options: [{ line: 8, text: " --d" }] },
  ]);
});
