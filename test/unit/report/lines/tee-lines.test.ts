import { expect, test } from "vitest";
import { teeLines } from "../../../../src/report/lines/tee-lines.js";

test.each([
  ["one\ntwo\n", ["j.1: one", "j.1: two"]],
  ["\n", ["j.1: "]],
  ["no newline", ["j.1: no newline"]],
  ["\tindented  \n", ["j.1: \tindented  "]],
  ["of Windows\r\n", ["j.1: of Windows"]],
  ["10%\r50%\r100%\r\n", ["j.1: 100%"]],
  ["\x1b[31mred\x1b[0m\n", ["j.1: red"]],
  ["bell\x07 and\x1b[2J clear\n", ["j.1: bell\\x07 and clear"]],
  ["ä ☃ 漢\n", ["j.1: ä ☃ 漢"]],
  ["turned \u202e round\n", ["j.1: turned \\u202e round"]],
])("%j", (text, lines) => {
  expect(teeLines("j.1", text)).toEqual(lines);
});

test("a line of any length is shown whole", () => {
  expect(teeLines("j.1", `${"ä".repeat(5000)}\n`)).toEqual([`j.1: ${"ä".repeat(5000)}`]);
});
