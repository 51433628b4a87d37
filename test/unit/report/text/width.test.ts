import { describe, expect, test } from "vitest";
import { fitWidth, fitWidthKeepingEnd, padWidth, textWidth } from "../../../../src/report/text/width.js";

test.each([
  ["", 0],
  ["abc", 3],
  ["é", 1],
  ["e\u0301", 1],
  ["日本語", 6],
  ["ｆｕｌｌ", 8],
  ["한국", 4],
  ["🎉", 2],
  ["👩‍👩‍👧", 2],
  ["❤️", 2],
  ["…━╍", 3],
])("%j takes %i columns", (text, width) => {
  expect(textWidth(text)).toBe(width);
});

describe("fitWidth", () => {
  test.each([
    ["a text that fits is kept", "abcde", 5, "abcde"],
    ["a longer text is cut", "abcdef", 5, "abcd…"],
    ["a wide character is not cut in half", "日本語", 4, "日…"],
    ["a wide text that just fits", "日本", 4, "日本"],
    ["no room at all", "abc", 0, ""],
    ["room for the ellipsis only", "abc", 1, "…"],
  ])("%s", (_, text, columns, fitted) => {
    expect(fitWidth(text, columns)).toBe(fitted);
  });

  test("an ellipsis that is wider than the room is left out", () => {
    expect(fitWidth("abcdef", 2, "...")).toBe("");
  });

  test("a very long text", () => {
    expect(fitWidth("日".repeat(5_000_000), 80)).toBe(`${"日".repeat(39)}…`);
  });

  test("a letter with very many accents", () => {
    expect(textWidth(fitWidth(`abc${"\u0301".repeat(10_000)}`, 5))).toBeLessThanOrEqual(5);
  });
});

test.each([
  ["batch.sh.12", 11, "batch.sh.12"],
  ["batch.sh.12", 6, "…sh.12"],
  ["日本語.12", 6, "…語.12"],
  ["batch.sh.12", 1, "…"],
  ["batch.sh.12", 0, ""],
])("%j in %i columns keeps its end: %j", (text, columns, fitted) => {
  expect(fitWidthKeepingEnd(text, columns)).toBe(fitted);
});

test("padding counts columns, not letters", () => {
  expect(padWidth("日本", 6)).toBe("日本  ");
});
