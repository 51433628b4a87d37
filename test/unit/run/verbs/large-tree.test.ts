import { expect, test } from "vitest";
import type { Tree } from "../../../../src/remote/tree/tree.js";
import { warnOfSize } from "../../../../src/run/verbs/large-tree.js";

function entries(sizes: Readonly<Record<string, number>>): Tree["entries"] {
  return Object.entries(sizes).map(([path, size]) => ({
    type: "File",
    path,
    mode: 0o644,
    mtime: new Date(0),
    size,
    sha256: "",
  }));
}

test("up to a gigabyte there is no warning", () => {
  expect(warnOfSize({ entries: entries({ a: 1e9 }) }, 1e9)).toBeNull();
});

test("above that the five largest entries are named, a directory by what makes it large, with the line that excludes one", () => {
  const tree = {
    entries: entries({
      "in/data/it's": 2e9,
      "in/x": 1,
      "many/a": 6e8,
      "many/b": 6e8,
      c: 5e6,
      d: 4e6,
      e: 3e6,
      f: 2e6,
    }),
  };
  expect(warnOfSize(tree, 3.2e9)).toBe(
    "3.2 GB will be sent to each machine that lacks them; the largest: in/data/it's (2.0 GB), many (1.2 GB), c (5 MB), " +
      "d (4 MB), e (3 MB); to exclude something: echo '/in/data/it'\\''s' >>.sshoalignore",
  );
});

test("small entries are not named", () => {
  expect(warnOfSize({ entries: entries({ a: 2e9, b: 46 }) }, 2e9)).toContain(
    "the largest: a (2.0 GB); to exclude",
  );
});

test("files that machines already have do not count", () => {
  expect(warnOfSize({ entries: entries({ a: 5e9 }) }, 1000)).toBeNull();
});
