import { readdirSync, statSync } from "node:fs";
import { utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { scanTree } from "../../../../src/remote/tree/tree.js";
import { recallTrees, rememberTree } from "../../../../src/remote/tree/tree-memory.js";
import { makeWorkspace, type Workspace } from "../../../rig/workspace.js";

let work: Workspace;
let cache: Workspace;

beforeEach(async () => {
  work = await makeWorkspace({ "d/a.txt": "1" });
  cache = await makeWorkspace();
});
afterEach(async () => {
  await work.remove();
  await cache.remove();
});

const lists = () =>
  readdirSync(cache.dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));

async function remember(text: string): Promise<string> {
  await work.write("d/a.txt", text);
  const tree = await scanTree(work.dir, ["."]);
  await rememberTree(cache.dir, tree);
  for (const [index, file] of lists().entries())
    if (!file.endsWith(tree.hash)) await utimes(file, index, statSync(file).mtimeMs / 1000 - 10);
  return tree.hash;
}

test("the latest come first, only those of this directory, and only a few are kept", async () => {
  const hashes: string[] = [];
  for (let n = 0; n < 8; n++) hashes.unshift(await remember(`${n}`));
  const recalled = await recallTrees(cache.dir, work.dir);
  expect(recalled.map(({ hash }) => hash)).toEqual(hashes.slice(0, 5));
  expect(await recallTrees(cache.dir, cache.dir)).toEqual([]);
});

test("a list describes the tree, and only its owner may read it", async () => {
  await remember("1");
  const [recalled] = await recallTrees(cache.dir, work.dir);
  expect(await recalled?.load()).toMatchObject([
    { type: "Directory", path: "d" },
    { type: "File", path: "d/a.txt", sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
  ]);
  expect(lists().map((file) => statSync(file).mode & 0o077)).toEqual([0]);
});

test.each([
  ["not JSON", "oops"],
  ["of another kind", '{"a":1}'],
  ["another list", '[["File","d/a.txt",420,"00"]]'],
])("a list that is %s is ignored", async (_, text) => {
  await remember("1");
  for (const file of lists()) await writeFile(file, text);
  const [recalled] = await recallTrees(cache.dir, work.dir);
  expect(await recalled?.load()).toBeNull();
});

test("if nothing can be stored, nothing is, without an error", async () => {
  const tree = await scanTree(work.dir, ["."]);
  const noDirectory = await cache.write("a-file", "");
  await rememberTree(noDirectory, tree);
  expect(await recallTrees(noDirectory, work.dir)).toEqual([]);
});
