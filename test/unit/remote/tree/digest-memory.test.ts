import { rename, utimes, writeFile } from "node:fs/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { DigestMemory } from "../../../../src/remote/tree/digest-memory.js";
import { scanTree } from "../../../../src/remote/tree/tree.js";
import { listBelow } from "../../../rig/batch.js";
import { makeWorkspace, type Workspace } from "../../../rig/workspace.js";

let work: Workspace;
let cache: Workspace;
const LATER = 60_000;

beforeEach(async () => {
  [work, cache] = await Promise.all([
    makeWorkspace({ "a.txt": "one\n", "deep/b": "two\n" }),
    makeWorkspace(),
  ]);
});
afterEach(() => Promise.all([work.remove(), cache.remove()]));

/** As if the files were older than this moment. */
async function scan(now = Date.now() + LATER) {
  const digests = new DigestMemory(cache.dir, work.dir, now);
  const tree = await scanTree(work.dir, ["."], { digests });
  digests.save();
  return tree;
}

const fresh = async () => (await scanTree(work.dir, ["."])).hash;

/** Falsifies the memory, to see whether it is used. */
async function forge(): Promise<void> {
  const [file = ""] = listBelow(cache.path("digests"));
  const rows = JSON.parse(await cache.read(`digests/${file}`)) as [string, string, string][];
  expect(rows).toHaveLength(2);
  await cache.write(
    `digests/${file}`,
    JSON.stringify(rows.map(([path, stamp]) => [path, stamp, "f".repeat(64)])),
  );
}

test("an unchanged file is not read again", async () => {
  await scan();
  await forge();
  const { entries } = await scan();
  const digests = entries.flatMap((entry) => (entry.type === "File" ? [entry.sha256] : []));
  expect(digests).toEqual(["f".repeat(64), "f".repeat(64)]);
});

test.each([
  [
    "of the same size, with its old time",
    async () => {
      const old = new Date(2020, 1);
      await utimes(work.path("a.txt"), old, old);
      await scan();
      await writeFile(work.path("a.txt"), "ONE\n");
      await utimes(work.path("a.txt"), old, old);
    },
  ],
  [
    "put in its place",
    async () => {
      await scan();
      await work.write("new", "ONE\n");
      await rename(work.path("new"), work.path("a.txt"));
    },
  ],
  [
    "grown",
    async () => {
      await scan();
      await writeFile(work.path("a.txt"), "one\nmore\n");
    },
  ],
])("changed content is noticed: %s", async (_, change) => {
  const before = await fresh();
  await change();
  const { hash } = await scan();
  expect(hash).toBe(await fresh());
  expect(hash).not.toBe(before);
});

test("a file of this moment is read again, because it may change once more within a clock tick", async () => {
  await scan(Date.now());
  expect(listBelow(cache.dir)).toEqual([]);
});

test("a damaged or missing memory counts as empty", async () => {
  await scan();
  const [file = ""] = listBelow(cache.path("digests"));
  for (const damage of ["", "[", '{"a":1}', '[["a.txt","x"]]', '[["a.txt","x","y"]]', "[1]", "null"]) {
    await cache.write(`digests/${file}`, damage);
    expect((await scan()).hash).toBe(await fresh());
  }
});

test("several trees of a directory share the memory", async () => {
  const digests = new DigestMemory(cache.dir, work.dir, Date.now() + LATER);
  await scanTree(work.dir, ["deep"], { digests });
  await scanTree(work.dir, ["a.txt", "deep"], { digests });
  digests.save();
  await forge();
});
