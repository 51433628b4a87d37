import { expect, test } from "vitest";
import { hasJsonWord } from "../../../../src/cli/options/json-word.js";

test.each([
  [["run", "x.sh", "--json"], true],
  [["--js"], true],
  [["--bogus", "--json", "--", "x"], true],
  [["--", "--json"], false],
  [["--jsonl"], false],
  [["json", "--", "-j"], false],
  [[], false],
])("%j: %s", (argv, expected) => {
  expect(hasJsonWord(argv)).toBe(expected);
});
