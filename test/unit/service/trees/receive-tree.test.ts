import { createHash } from "node:crypto";
import { existsSync, lstatSync, readFileSync, readlinkSync } from "node:fs";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { sentList } from "../../../../src/api/readers/tree-readers.js";
import type { SentEntry } from "../../../../src/model/sent-tree.js";
import { hashEntries } from "../../../../src/remote/tree/tree.js";
import { missingFiles, receiveTree } from "../../../../src/service/trees/receive-tree.js";
import { frozenTreePath, openTreeStore, type TreeStore } from "../../../../src/service/trees/tree-store.js";
import { makeWorkspace, type Workspace } from "../../../rig/workspace.js";

let work: Workspace;
let store: TreeStore;

beforeEach(async () => {
  work = await makeWorkspace();
  store = openTreeStore(work.path("trees"));
});
afterEach(() => work.remove());

function aFile(name: string, content: string): SentEntry {
  const sha256 = createHash("sha256").update(content).digest("hex");
  return {
    type: "File",
    path: name,
    mode: 0o644,
    mtime: 1_000_000,
    size: Buffer.byteLength(content),
    sha256,
  };
}

const DIR: SentEntry = { type: "Directory", path: "src", mode: 0o755, mtime: 2_000_000 };
const LINK: SentEntry = { type: "SymbolicLink", path: "there", mode: 0o777, mtime: 1, target: "/etc" };
const ONE = aFile("a.txt", "alpha");
const TWO = aFile("src/b.txt", "beta");
const ALL = [ONE, DIR, TWO, LINK];
const HASH = hashEntries(ALL);

async function* pieces(...texts: string[]): AsyncGenerator<Buffer> {
  for (const text of texts) yield Buffer.from(text);
}

function hashOf(entry: SentEntry): string {
  return entry.type === "File" ? entry.sha256 : "";
}

function send(...texts: string[]): Promise<void> {
  const files = { entries: ALL, sent: [hashOf(ONE), hashOf(TWO)] };
  return receiveTree(store, { hash: HASH, files, content: pieces(...texts), now: Date.now() });
}

test("a tree arrives whole, in pieces of any size, with its modes, times and links", async () => {
  expect(await missingFiles(store, ALL, Date.now())).toEqual([hashOf(ONE), hashOf(TWO)]);
  await send("al", "phabe", "ta");
  const dir = frozenTreePath(store, HASH);
  expect(readFileSync(path.join(dir, "a.txt"), "utf8")).toBe("alpha");
  expect(readFileSync(path.join(dir, "src/b.txt"), "utf8")).toBe("beta");
  expect(readlinkSync(path.join(dir, "there"))).toBe("/etc");
  expect(lstatSync(path.join(dir, "src")).mtimeMs).toBe(2_000_000);
  expect(await missingFiles(store, ALL, Date.now())).toEqual([]);
});

test("another tree with the same files needs nothing, and an empty one neither", async () => {
  await send("alphabeta");
  const moved = [{ ...ONE, path: "c.txt" }];
  expect(await missingFiles(store, moved, Date.now())).toEqual([]);
  expect(existsSync(path.join(frozenTreePath(store, hashEntries(moved)), "c.txt"))).toBe(true);
  expect(await missingFiles(store, [], Date.now())).toEqual([]);
  expect(existsSync(frozenTreePath(store, ""))).toBe(true);
});

test.each([
  ["other content than the hash says", ["alphaBETA"], 409],
  ["less content", ["alpha", "be"], 400],
  ["more content", ["alphabeta", "!"], 400],
])("%s is refused, and no tree is there", async (_, texts, status) => {
  await expect(send(...texts)).rejects.toMatchObject({ status });
  expect(existsSync(frozenTreePath(store, HASH))).toBe(false);
});

test("a list with another hash, and a content that no file has, are refused", async () => {
  const asked = { content: pieces(""), now: Date.now() };
  const other = receiveTree(store, { ...asked, hash: "0".repeat(40), files: { entries: ALL, sent: [] } });
  await expect(other).rejects.toMatchObject({ status: 400 });
  const strange = receiveTree(store, {
    ...asked,
    hash: HASH,
    files: { entries: ALL, sent: ["f".repeat(64)] },
  });
  await expect(strange).rejects.toMatchObject({ status: 400 });
});

test("a content that is announced twice is refused", async () => {
  const files = { entries: [ONE], sent: [hashOf(ONE), hashOf(ONE)] };
  const asked = { hash: hashEntries([ONE]), content: pieces("alphaalpha"), now: Date.now() };
  await expect(receiveTree(store, { ...asked, files })).rejects.toMatchObject({ status: 400 });
});

test("a path that is too long to be removed from the service again is refused", async () => {
  const deep = Array.from({ length: 40 }, (_, at): SentEntry => {
    return {
      ...DIR,
      path: Array(at + 1)
        .fill("d".repeat(100))
        .join("/"),
    };
  });
  await expect(missingFiles(store, deep, Date.now())).rejects.toThrow("the path has more than");
  expect(existsSync(frozenTreePath(store, hashEntries(deep)))).toBe(false);
});

test.each<[string, SentEntry[]]>([
  ["a path that leads up", [{ ...ONE, path: "../a" }]],
  ["an absolute path", [{ ...ONE, path: "/a" }]],
  ["a path with a dot", [{ ...ONE, path: "src/./a" }]],
  ["an empty path", [{ ...ONE, path: "" }]],
  ["a file below no directory", [TWO]],
  ["a file below a link", [LINK, { ...ONE, path: "there/a" }]],
  ["a file below a file", [ONE, { ...ONE, path: "a.txt/b" }]],
  ["the same path twice", [ONE, ONE]],
  ["a mode beyond permissions", [{ ...ONE, mode: 0o4755 }]],
  ["a directory that its owner cannot enter", [{ ...DIR, mode: 0o055 }]],
  ["a name that no disk takes", [{ ...ONE, path: "n".repeat(256) }]],
  ["half a character, which is the same name as another half", [{ ...ONE, path: "\ud800" }]],
  ["a type that every object has", [{ ...DIR, type: "__proto__" } as unknown as SentEntry]],
  ["a link without a target", [{ type: "SymbolicLink", path: "l", mode: 0o777, mtime: 1 } as SentEntry]],
])("%s is a mistake in a list", (_, entries) => {
  const problems: { where: string; message: string }[] = [];
  sentList({ entries }, { where: "", problems });
  expect(problems).not.toEqual([]);
});

test("a list that a scan makes has no mistake", () => {
  const problems: { where: string; message: string }[] = [];
  sentList({ entries: ALL }, { where: "", problems });
  expect(problems).toEqual([]);
});
