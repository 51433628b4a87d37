import { appendFile, mkdir, rm, utimes, writeFile } from "node:fs/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { rereadTree } from "../../../../src/remote/tree/reread-tree.js";
import { hashEntries, scanTree, type Tree } from "../../../../src/remote/tree/tree.js";
import { makeWorkspace, type Workspace } from "../../../rig/workspace.js";

let box: Workspace;
let tree: Tree;

beforeEach(async () => {
  box = await makeWorkspace({ a: "12345", b: "12345", "d/c": "12345" });
  tree = await scanTree(box.dir, ["."]);
});
afterEach(() => box.remove());

const shaOf = ({ entries }: Tree, path: string) =>
  entries.flatMap((entry) => (entry.path === path && entry.type === "File" ? [entry.sha256] : []))[0];

test("the file that failed is read again and named, and the tree gets another hash", async () => {
  await writeFile(box.path("a"), "changed");
  const next = await rereadTree(tree, "a");
  expect(next.warnings).toEqual(["a changed while it was copied: jobs get it as it is now"]);
  expect(shaOf(next, "a")).not.toBe(shaOf(tree, "a"));
  expect(shaOf(next, "b")).toBe(shaOf(tree, "b"));
  expect(next.hash).toBe(hashEntries(next.entries));
  expect(next.hash).not.toBe(tree.hash);
  expect(next.bytes).toBe(tree.bytes + 2);
});

test("other changed files are found as well: removed, shorter, or rewritten with the same length", async () => {
  await writeFile(box.path("a"), "other");
  await utimes(box.path("a"), 1e9, 1e9);
  await writeFile(box.path("b"), "1");
  await rm(box.path("d"), { recursive: true });
  const next = await rereadTree(tree, "b");
  expect(next.warnings).toEqual([
    "a changed while it was copied: jobs get it as it is now",
    "b changed while it was copied: jobs get it as it is now",
    "d/c is left out: it was removed, or cannot be read any more",
  ]);
  expect(next.entries.map(({ path }) => path)).toEqual(["a", "b", "d"]);
});

test("a file that only grew stays as it was, without the new bytes", async () => {
  await appendFile(box.path("a"), "more");
  await writeFile(box.path("b"), "x");
  await box.write("new", "");
  const next = await rereadTree(tree, "b");
  expect(shaOf(next, "a")).toBe(shaOf(tree, "a"));
  expect(next.entries.map(({ path }) => path)).toEqual(["a", "b", "d", "d/c"]);
});

test("a file that changes a second time is left out", async () => {
  await writeFile(box.path("a"), "second");
  const second = await rereadTree(tree, "a");
  await writeFile(box.path("a"), "third");
  const third = await rereadTree(second, "a");
  expect(third.warnings).toEqual(["a is left out: it keeps changing while it is copied"]);
  expect(third.entries.map(({ path }) => path)).toEqual(["b", "d", "d/c"]);
});

test("a file that has become a directory is left out", async () => {
  await rm(box.path("a"));
  await mkdir(box.path("a"));
  const next = await rereadTree(tree, "a");
  expect(next.warnings).toEqual(["a is left out: it was removed, or cannot be read any more"]);
});
