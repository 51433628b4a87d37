import fc from "fast-check";
import { expect, test } from "vitest";
import { bashAt } from "../../../../src/input/batch/ask-bash.js";
import { JobSplitter } from "../../../../src/input/batch/job-splitter.js";
import { isPlainCommand } from "../../../../src/input/batch/plain-command.js";
import { commandStarts } from "../an-interactive-bash.js";

const bash = bashAt("bash");

// Scripts of commands that do nothing, with everything that can span several lines.

const word = fc.constantFrom(
  ..."a 'b' \"c\" $x $((1+2)) $((1<<2)) a#b \\' \\\\ {1,2} done fi esac } in [[ $'it\\'s' `:`".split(" "),
  `\${x}`,
  `\${x:-'y z'}`,
  "\"$(: 'a b')\"",
  "'it is\nnot over'",
  '"nor # this\none"',
  '"$(: "a\nb" # c"\n)"',
  "$(\n:\n)",
  "$(: $(: x\n) y)",
  `\${x:-a\nb}`,
  `"\${x:-a\nb}"`,
  "a\\\nb",
  '"\\"\n\'"',
  "$((1 +\n2))",
  "`: a\n: b`",
  "$'a\\'\nb'",
  "$(: <<E\nx)\nE\n)",
);

const comment = fc.constantFrom("", "", " # it's", ' # "b \\', " # <<E");

const simple = fc
  .tuple(
    fc.constantFrom(":", "true", "x=1", "x=1 :", ": >/dev/null", ":  2>&1", "! :", "time :"),
    fc.array(word, { maxLength: 3 }),
    fc.constantFrom("", "", ";", " ; :", " | :", " && true", " |\n:", " &&\n\n# c\n:", " ||\\\n :"),
  )
  .map(([name, words, end]) => [name, ...words].join(name === "x=1" ? "; : " : " ") + end);

const bodyLine = fc.constantFrom(
  "",
  "text",
  "it's",
  '"',
  "E ",
  " E",
  "EE",
  "# no",
  "done",
  "}",
  ")",
  "a \\",
  "\\",
  "\tx",
);

const heredoc = fc
  .tuple(
    fc.constantFrom(["<<E", "E"], ["<<'E'", "E"], ["<<-E", "\tE"], ['<<"E F"', "E F"], ["<<\\E", "E"]),
    fc.array(bodyLine, { maxLength: 4 }),
    fc.constantFrom("", " # it's", " | :", " && : 'a'", "; :"),
  )
  .map(([[mark = "", end = ""], body, after]) =>
    [
      `: ${mark}${after}`,
      ...body.map((line) => line.replace(/\\$/, mark === "<<'E'" ? "\\" : "\\\\")),
      end,
    ].join("\n"),
  );

const { command } = fc.letrec<{ command: string; list: string; compound: string }>((tie) => ({
  command: fc.oneof({ depthSize: "small" }, { arbitrary: simple, weight: 3 }, heredoc, tie("compound")),
  list: fc
    .array(fc.tuple(tie("command"), comment), { minLength: 1, maxLength: 3 })
    .map((parts) => parts.map(([each, why]) => withComment(each, why)).join("\n")),
  compound: fc
    .tuple(
      tie("list"),
      tie("list"),
      fc.constantFrom<(one: string, other: string) => string>(
        (one) => `{\n${one}\n}`,
        (one) => `(\n${one}\n)`,
        (one) => `( ${one}\n) | :`,
        (one) => `for i in 1 2; do\n${one}\ndone`,
        (one) => `for i in 1\ndo ${one}\ndone >/dev/null`,
        (one, other) => `if :; then\n${one}\nelse\n${other}\nfi`,
        (one, other) => `if\n${one}\nthen ${other}\nfi`,
        (one) => `while false; do\n${one}\ndone`,
        (one) => `until\n${one}\n! false\ndo :\ndone`,
        (one, other) => `case a in\na)\n${one}\n;;\n(b|c) ${other}\n;; esac`,
        (one) => `f()\n{\n${one}\n}`,
        (one) => `function g {\n${one}\n} && :`,
        (one) => `{ ${one}\n} &&\n:`,
        () => "[[ a == a &&\n b == b ]]",
        () => "(( 1 +\n 1 ))",
        () => "x=(a\n# b)\nc 'd\n')",
        (one) => `: "$(\n${one}\n)"`,
      ),
    )
    .map(([one, other, shape]) => shape(one, other)),
}));

/** The end of a here-document must be alone on its line. */
function withComment(text: string, why: string): string {
  return text.includes("<<") ? text : text + why;
}

const script = fc
  .array(
    fc.oneof(
      { arbitrary: fc.tuple(command, comment).map(([text, why]) => withComment(text, why)), weight: 4 },
      fc.constantFrom("", "# it's \\", "  ", "\t# <<E"),
    ),
    { minLength: 1, maxLength: 6 },
  )
  .map((parts) => parts.join("\n"));

test("any script that bash accepts is cut where bash cuts it", { timeout: 120_000 }, async () => {
  let compared = 0;
  await fc.assert(
    fc.asyncProperty(script, fc.nat(), async (text, at) => {
      fc.pre((await bash(text)).kind === "taken");
      const lines = text.split("\n");
      const middle = at % (lines.length + 1);
      const splitter = new JobSplitter(bash);
      // Lines may arrive in any portions.
      const pieces = [
        ...(await splitter.add(lines.slice(0, middle))),
        ...(await splitter.add(lines.slice(middle))),
        ...(await splitter.end()),
      ].flatMap((piece) => (piece.kind === "job" ? [piece] : []));
      expect(pieces.map(({ line }) => line)).toEqual(commandStarts(text));
      for (const { command, line, mistake } of pieces) {
        expect(mistake).toBe(null);
        expect(
          lines
            .slice(line - 1)
            .join("\n")
            .startsWith(command),
        ).toBe(true);
      }
      compared += 1;
    }),
    { numRuns: 100 },
  );
  expect(compared).toBe(100);
});

test("if a quick look accepts a line as a whole command, bash does too", async () => {
  const bit = fc.constantFrom(
    ..."a b 1 for in do done { } ! [[ ]] time x=1 x= a[ ] ( ) | || && & ; ;; < > << <<< >& <& &> >> 2> $ $x $( $' # ' \" ` \\ - ~ * = esac fi if".split(
      " ",
    ),
    `\${x}`,
    `\${`,
    " ",
    "\t",
    "'c d'",
    '"e $x f"',
  );
  const line = fc.array(bit, { minLength: 1, maxLength: 9 }).map((bits) => bits.join(""));
  await fc.assert(
    fc.asyncProperty(line.filter(isPlainCommand), async (text) => {
      expect(await bash(text)).toEqual({ kind: "taken", heredocs: [] });
      // If the command were incomplete, the bracket would belong to it and not be the mistake.
      expect(await bash(`${text}\n)`)).toMatchObject({ kind: "refused" });
    }),
    { numRuns: 300 },
  );
});
