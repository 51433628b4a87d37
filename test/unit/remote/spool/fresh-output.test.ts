import { expect, test } from "vitest";
import { freshOutput } from "../../../../src/remote/spool/fresh-output.js";

const fresh = (offset: number, text: string, position: number, known: string) =>
  freshOutput({ offset, bytes: Buffer.from(text) }, position, Buffer.from(known))?.toString() ?? null;

test.each([
  ["all of the first piece", 0, "abc", 0, "", "abc"],
  ["all of a piece that begins where the last one ended", 3, "def", 3, "abc", "def"],
  ["what follows the overlap", 1, "bcdef", 3, "abc", "def"],
  ["nothing of a piece that is known", 0, "ab", 3, "abc", ""],
  ["nothing of a piece that comes too early", 5, "fgh", 3, "abc", ""],
  ["null if the overlap differs", 0, "abX", 3, "abc", null],
  ["null if it differs at its beginning", 0, "Xbcdef", 3, "abc", null],
  ["null if the local bytes are shorter than they should be", 0, "abcdef", 4, "abc", null],
])("%s", (_, offset, text, position, known, expected) => {
  expect(fresh(offset, text, position, known)).toBe(expected);
});
