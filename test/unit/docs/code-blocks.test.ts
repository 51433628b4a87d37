// A misspelled mark would leave a block out of the run without a word.

import { describe, expect, test } from "vitest";
import { codeBlocks, pagePaths, readPage } from "../../rig/markdown.js";

const MARKS = /^(|sh|sh runnable( exit=[1-9]\d*)?|yaml|json|sql|bash|zsh|fish)$/;

describe.each(pagePaths())("%s", (page) => {
  test("its code blocks have known marks", () => {
    const odd = codeBlocks(readPage(page)).filter(({ info }) => !MARKS.test(info.join(" ")));
    expect(odd.map(({ info, line }) => `${page}:${line}: ${info.join(" ")}`)).toEqual([]);
  });
});

test("a block knows its words, its text and its line", () => {
  const page = "Text.\n\n```sh runnable exit=1\nfalse\n```\n\n- item\n\n  ```\n  indented\n  ```\n";
  expect(codeBlocks(page)).toEqual([
    { info: ["sh", "runnable", "exit=1"], text: "false\n", line: 3 },
    { info: [""], text: "  indented\n", line: 9 },
  ]);
});
