import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { lstat, open, readFile, symlink } from "node:fs/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { BLOCK_BYTES, putBack, takeBlocks } from "../../../../src/remote/results/aligned-blocks.js";
import { BlockFile } from "../../../../src/remote/results/block-file.js";
import { createFile } from "../../../../src/remote/results/write-entry.js";
import { makeWorkspace, type Workspace } from "../../../rig/workspace.js";

const LARGE = 1e9;
const ABOUT = { mode: 0o640, mtime: new Date(1e12) };

let box: Workspace;

beforeEach(async () => {
  box = await makeWorkspace({ "outside/mine": "mine" });
});
afterEach(() => box.remove());

async function writeBlocks(name: string, size: number, blocks: readonly Buffer[]): Promise<void> {
  await box.write(name, "");
  const file = await BlockFile.open(box.path(name), size);
  try {
    for (const block of blocks) await file.write(block);
    await file.finish(ABOUT);
  } finally {
    await file.close();
  }
}

test.each([
  ["small enough for the cache", 3 * BLOCK_BYTES],
  ["large", LARGE],
])("a file that is %s has its blocks in order, and a last one of any length", async (_, size) => {
  const blocks = takeBlocks();
  for (const block of blocks) randomBytes(BLOCK_BYTES).copy(block);
  const last = randomBytes(4097);
  await writeBlocks("file", size, [...blocks, last]);
  expect((await readFile(box.path("file"))).equals(Buffer.concat([...blocks, last]))).toBe(true);
  const { mode, mtime } = await lstat(box.path("file"));
  expect([mode & 0o777, mtime]).toEqual([ABOUT.mode, ABOUT.mtime]);
  putBack(blocks);
});

test("memory that cannot be written directly is still written, and so is what follows", async () => {
  const odd = randomBytes(BLOCK_BYTES + 1).subarray(1);
  const blocks = takeBlocks();
  await writeBlocks("file", LARGE, [blocks[0], odd, blocks[1]]);
  expect((await readFile(box.path("file"))).equals(Buffer.concat([blocks[0], odd, blocks[1]]))).toBe(true);
  putBack(blocks);
});

test("blocks are written from memory without the cache", async (context) => {
  await box.write("file", "");
  const flags = constants.O_WRONLY | (constants.O_DIRECT ?? 0);
  const direct = await open(box.path("file"), flags).catch(() => null);
  if (direct === null) return context.skip("this disk cannot do without the cache");
  const blocks = takeBlocks();
  for (const block of blocks) expect((await direct.write(block)).bytesWritten).toBe(BLOCK_BYTES);
  await direct.close();
  putBack(blocks);
});

test.each([3 * BLOCK_BYTES, LARGE])("no file is overwritten, and no link followed (%d)", async (size) => {
  await symlink(box.path("outside/mine"), box.path("link"));
  for (const name of ["outside/mine", "link"]) expect(() => createFile(box.path(name))).toThrow(/EEXIST/);
  await expect(BlockFile.open(box.path("link"), size)).rejects.toThrow(/ELOOP/);
  expect(await readFile(box.path("outside/mine"), "utf8")).toBe("mine");
});
