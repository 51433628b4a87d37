import { execFileSync } from "node:child_process";
import fc from "fast-check";
import { expect, test } from "vitest";
import { programLine, quote, quoteIfNeeded, sh } from "../../../src/transport/quote.js";

const words = fc.array(
  fc.oneof(
    fc.string({ unit: "binary" }),
    fc.string({ unit: fc.constantFrom("'", '"', "\\", "$", "`", "\n", " ", "!", "a", "*", "-", "~", "=") }),
  ),
  { minLength: 1, maxLength: 20 },
);

test.each([[["sh"]], [["busybox", "ash"]]])("%s prints exactly the words that were quoted", (shell) => {
  const [program = "", ...args] = shell;
  fc.assert(
    fc.property(words, (list) => {
      const clean = list.map((word) => word.replaceAll("\0", "?"));
      const script = `printf '%s\\0' ${clean.map(quote).join(" ")}`;
      const printed = execFileSync(program, [...args, "-c", script]);
      expect(printed.toString()).toBe(clean.map((word) => `${word}\0`).join(""));
    }),
    { numRuns: 100 },
  );
});

test.each(["sh", "bash"])("the line of a program gives %s exactly its words", (shell) => {
  const plain = fc.array(fc.string({ unit: fc.constantFrom(..."aA1_./:@%+,=-~{}* '") }), { maxLength: 20 });
  fc.assert(
    fc.property(plain, (list) => {
      const printed = execFileSync(shell, ["-c", programLine(["printf", "%s\\0", "-", ...list])]);
      expect(printed.toString()).toBe(["-", ...list].map((word) => `${word}\0`).join(""));
    }),
    { numRuns: 100 },
  );
});

test("arguments of a program are quoted only if needed, and its name also if it would set a variable", () => {
  expect(programLine(["python", "train.py", "lr=0.01", "--x=1", "=a", "A=~"])).toBe(
    "python train.py lr=0.01 --x=1 '=a' 'A=~'",
  );
  expect(programLine(["A=1", "b"])).toBe("'A=1' b");
});

test("a word with a NUL byte is refused", () => {
  expect(() => quote("a\0b")).toThrow("NUL");
});

test("sh`` makes one word of each value, and one of each element of a list", () => {
  expect(sh`cd -- ${"a b"} && exec ${["ls", "it's"]} ${7}`).toBe(`cd -- 'a b' && exec 'ls' 'it'\\''s' '7'`);
  expect(sh`${""}`).toBe("''");
  expect(sh`plain`).toBe("plain");
});

test("for people, plain words are not quoted", () => {
  expect(quoteIfNeeded("/home/me/.ssh/id_rsa")).toBe("/home/me/.ssh/id_rsa");
  expect(quoteIfNeeded("/home/my key")).toBe("'/home/my key'");
});
