import { readlinkSync } from "node:fs";
import { mkdir, symlink } from "node:fs/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { mergeResults } from "../../../../src/run/home/merge-results.js";
import { listBelow } from "../../../rig/batch.js";
import { makeWorkspace, type Workspace } from "../../../rig/workspace.js";

let box: Workspace;

beforeEach(async () => {
  box = await makeWorkspace();
  await Promise.all([mkdir(box.path("from")), mkdir(box.path("to"))]);
});
afterEach(() => box.remove());

const merge = () => mergeResults(box.path("from"), box.path("to"));

test("new files are moved into existing and new directories", async () => {
  await box.write("to/a/old", "old");
  for (const path of ["a/new", "b/c/new", "top"]) await box.write(`from/${path}`, path);
  await symlink("new", box.path("from/a/link"));
  merge();
  expect(listBelow(box.path("to"))).toEqual([
    "a/",
    "a/link",
    "a/new",
    "a/old",
    "b/",
    "b/c/",
    "b/c/new",
    "top",
  ]);
  expect(readlinkSync(box.path("to/a/link"))).toBe("new");
});

test("an existing file with the same content stays single, however often it arrives", async () => {
  await box.write("to/a", "same");
  await symlink("a", box.path("to/link"));
  for (const _ of [1, 2]) {
    await box.write("from/a", "same");
    await symlink("a", box.path("from/link")).catch(() => undefined);
    merge();
  }
  expect(listBelow(box.path("to"))).toEqual(["a", "link"]);
});

test("no existing entry is overwritten, even if it is of another type", async () => {
  await box.write("to/a", "mine");
  await box.write("to/a.again-2", "mine too");
  await box.write("to/b/file", "mine");
  await box.write("from/a", "new!");
  await box.write("from/b", "a file");
  merge();
  expect(await box.read("to/a")).toBe("mine");
  expect(await box.read("to/a.again-2")).toBe("mine too");
  expect(await box.read("to/a.again-3")).toBe("new!");
  expect(await box.read("to/b.again-2")).toBe("a file");
});

test("a large file that differs in its last byte", async () => {
  const large = Buffer.alloc(3 << 20, "x");
  await box.write("to/a", large);
  large[large.length - 1] = 0;
  await box.write("from/a", large);
  merge();
  expect(listBelow(box.path("to"))).toEqual(["a", "a.again-2"]);
});
