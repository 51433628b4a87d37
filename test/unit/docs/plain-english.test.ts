// The pages are written for readers to whom English is a second language: short sentences, and actors that have a name.

import { describe, expect, test } from "vitest";
import { pagePaths, proseLines, readPage, withoutCode } from "../../rig/markdown.js";
import { sentencesOf, wordCount } from "../../rig/sentences.js";

const MOST_WORDS = 25;
const AVOIDED =
  /\b(who(m|se)?ever|(some|any|no)(body| one)|over there|mend(s|ed|ing)?|of which|told|tells?)\b/i;

describe.each(pagePaths())("%s", (page) => {
  test(`no sentence has more than ${MOST_WORDS} words`, () => {
    const long = sentencesOf(readPage(page)).filter(({ text }) => wordCount(text) > MOST_WORDS);
    expect(long.map(({ text, line }) => `${page}:${line}: ${wordCount(text)} words: ${text}`)).toEqual([]);
  });

  test("names its actors, and says report, print or fix", () => {
    const lines = proseLines(readPage(page)).filter(({ text }) => AVOIDED.test(withoutCode(text)));
    expect(lines.map(({ text, number }) => `${page}:${number}: ${text}`)).toEqual([]);
  });
});

test("a long sentence is found in a paragraph, a list and a table", () => {
  const long = Array(MOST_WORDS + 1)
    .fill("word")
    .join(" ");
  const page = `Short. ${long}.\n\n- Short one.\n- A \`b c d\` ${long}\n\n| a | b |\n|---|---|\n| x; ${long} | y |\n`;
  const lines = sentencesOf(page).filter(({ text }) => wordCount(text) > MOST_WORDS);
  expect(lines.map(({ line }) => line)).toEqual([1, 4, 8]);
});

test("a sentence goes on over the end of a line, and a word in code counts as one", () => {
  const page = "One two\nthree `four five`. Six.\n\n    code is not prose\n";
  expect(sentencesOf(page).map(({ text }) => wordCount(text))).toEqual([4, 1]);
});
