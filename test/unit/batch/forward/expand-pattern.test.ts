import { afterEach, beforeEach, expect, test } from "vitest";
import { expandPattern } from "../../../../src/batch/forward/expand-pattern.js";
import { makeWorkspace, type Workspace } from "../../../rig/workspace.js";

let work: Workspace;

beforeEach(async () => {
  work = await makeWorkspace({
    "a.py": "",
    "b.py": "",
    ".c.py": "",
    "d1/x": "",
    "d2/x": "",
    "d2/y": "",
    "p+q": "",
    é: "",
  });
});
afterEach(() => work.remove());

test.each([
  ["*.py", ["a.py", "b.py"]],
  [".*.py", [".c.py"]],
  ["[!a].py", ["b.py"]],
  ["d[12]/x", ["d1/x", "d2/x"]],
  ["*/y", ["d2/y"]],
  ["d2/*", ["d2/x", "d2/y"]],
  ["?+q", ["p+q"]],
  ["?", ["é"]],
  ["*.txt", []],
  ["none/*", []],
])("%s stands for %j", (pattern, paths) => {
  expect(expandPattern(pattern, work.dir)).toEqual(paths);
});
