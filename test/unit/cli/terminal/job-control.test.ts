import { expect, test } from "vitest";
import { parseStat } from "../../../../src/cli/terminal/job-control.js";

test("a process group is found after a name with spaces and brackets", () => {
  const stat = "4711 (a) b (c)) S 1 4700 4600 34816 4700 4194304 0 0";
  expect(parseStat(stat)).toEqual({ own: 4700, foreground: 4700 });
});
