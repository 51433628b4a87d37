// The archive for several machines at once: its content, how often files are read, and that a change stops it.

import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { appendFile, mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Cargo } from "../../../../src/remote/tree/cargo.js";
import { scanTree } from "../../../../src/remote/tree/tree.js";
import { makeWorkspace, type Workspace } from "../../../rig/workspace.js";

let box: Workspace;

beforeEach(async () => {
  box = await makeWorkspace();
});
afterEach(() => box.remove());

const LARGE = 40 * 1024 * 1024 + 7;

async function aCargo(): Promise<Cargo> {
  const { dir, entries } = await scanTree(box.dir, ["."]);
  return new Cargo(dir, entries, "mark");
}

async function gather(cargo: Cargo): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const { data } of cargo.stream()) pieces.push(data);
  return Buffer.concat(pieces);
}

test("content of any size, and the mark at the end", async () => {
  const content = Buffer.alloc(3_500_001, "0123456789");
  await box.write("large", content);
  await box.write("d/none", "");
  await symlink("nowhere", box.path("link"));
  const archive = await gather(await aCargo());
  await mkdir(box.path("into"));
  const listed = spawnSync("tar", ["-xvf", "-", "-C", box.path("into")], { input: archive });
  expect(listed.stdout.toString().trim().split("\n")).toEqual(["d/", "d/none", "large", "link", "mark"]);
  expect(readFileSync(box.path("into/large")).equals(content)).toBe(true);
});

test.each(["gzip", "busybox gzip"])("in zipped pieces that %s reads as one file", async (words) => {
  await box.write("large", Buffer.alloc(3_500_001, "0123456789"));
  const cargo = await aCargo();
  const pieces: Buffer[] = [];
  for await (const { data } of cargo.stream(true)) pieces.push(data);
  expect(pieces.length).toBeGreaterThan(3);
  const [program = "", ...args] = words.split(" ");
  const input = Buffer.concat(pieces);
  const { stdout } = spawnSync(program, [...args, "-dc"], { input, maxBuffer: 1e7 });
  expect(input.length).toBeLessThan(100_000);
  expect(stdout.equals(await gather(cargo))).toBe(true);
});

test("machines at the same position share what was read; a late one gets the same", async () => {
  await box.write("small", "1");
  await box.write("large", Buffer.alloc(LARGE, "x"));
  const cargo = await aCargo();
  const [one, two] = [cargo.stream(), cargo.stream()];
  const first: Buffer[] = [];
  for (;;) {
    const [a, b] = [await one.next(), await two.next()];
    if (a.done || b.done) break;
    // Not only equal: the same memory.
    expect(a.value.data).toBe(b.value.data);
    first.push(a.value.data);
  }
  expect((await gather(cargo)).equals(Buffer.concat(first))).toBe(true);
});

test.each([
  ["a small one", 5],
  ["an empty one", 0],
  ["a large one", LARGE],
])("bytes appended to a file after the scan are not sent: %s", async (_, bytes) => {
  const content = Buffer.alloc(bytes, "x");
  await box.write("file", content);
  const before = await gather(await aCargo());
  const cargo = await aCargo();
  await appendFile(box.path("file"), "more");
  expect((await gather(cargo)).equals(before)).toBe(true);
});

describe("a file that changed after the scan stops it, by name", () => {
  test.each<[string, () => Promise<unknown>]>([
    ["it shrank", () => writeFile(box.path("file"), "1")],
    ["it is another of the same length", () => writeFile(box.path("file"), "54321")],
  ])("%s", async (_, change) => {
    await box.write("file", "12345");
    const cargo = await aCargo();
    await change();
    await expect(gather(cargo)).rejects.toThrow("file changed while it was being copied");
  });

  test("a large one, for the first machine and for a late one", async () => {
    await box.write("large", Buffer.alloc(LARGE, "x"));
    const changed = await aCargo();
    const unchanged = await aCargo();
    await gather(unchanged);
    const content = Buffer.alloc(LARGE, "x");
    content[5] = 0;
    await box.write("large", content);
    await expect(gather(changed)).rejects.toThrow("large changed");
    await expect(gather(changed)).rejects.toThrow("large changed");
    await expect(gather(unchanged)).rejects.toThrow("large changed");
  });

  test("it vanished", async () => {
    await box.write("file", "12345");
    const cargo = await aCargo();
    await rm(box.path("file"));
    await expect(gather(cargo)).rejects.toThrow("file changed while it was being copied");
  });
});
