import { execFile } from "node:child_process";
import { readdirSync } from "node:fs";
import { mkdir, rm, stat, symlink, utimes } from "node:fs/promises";
import { promisify } from "node:util";
import { build } from "esbuild";
import { afterEach, beforeEach, expect, test } from "vitest";
import { boundCache, type CacheEntry, listCache, surplusEntries } from "../../src/bound-cache.js";
import { CodeFile } from "../../src/code-file.js";
import { DigestMemory } from "../../src/remote/tree/digest-memory.js";
import { scanTree } from "../../src/remote/tree/tree.js";
import { rememberTree } from "../../src/remote/tree/tree-memory.js";
import { makeWorkspace, type Workspace } from "../rig/workspace.js";

let cache: Workspace;
beforeEach(async () => {
  cache = await makeWorkspace();
});
afterEach(() => cache.remove());

const HOUR = 3_600_000;
const NOW = 1000 * HOUR;
const entry = (name: string, hoursAgo: number, bytes = 1): CacheEntry => ({
  name,
  bytes,
  usedAt: NOW - hoursAgo * HOUR,
  isDraft: name.startsWith("draft-"),
});
const goes = (entries: readonly CacheEntry[], limits: Parameters<typeof surplusEntries>[1], keep?: string) =>
  surplusEntries(entries, limits, { now: NOW, ...(keep !== undefined && { keep }) }).map(({ name }) => name);

test("what was not used for longest goes first, by number, size and age", () => {
  const entries = [entry("c", 3), entry("a", 1), entry("d", 4, 50), entry("b", 2, 40)];
  expect(goes(entries, { entries: 4, bytes: 1000 })).toEqual([]);
  expect(goes(entries, { entries: 2, bytes: 1000 })).toEqual(["d", "c"]);
  // A smaller one that is older stays, if there is room for it.
  expect(goes(entries, { entries: 4, bytes: 50 })).toEqual(["d"]);
  expect(goes(entries, { entries: 4, bytes: 30 })).toEqual(["d", "b"]);
  expect(goes(entries, { entries: 4, bytes: 1000, ageMs: 2.5 * HOUR })).toEqual(["d", "c"]);
  expect(goes([], { entries: 0, bytes: 0 })).toEqual([]);
});

test("what was just written stays, and so does what another process is writing", () => {
  const entries = [entry("new", 9, 500), entry("a", 1), entry("draft-now", 0.5), entry("draft-left", 2)];
  expect(goes(entries, { entries: 1, bytes: 10 }, "new")).toEqual(["draft-left"]);
  expect(goes(entries, { entries: 0, bytes: 10 }, "new")).toEqual(["draft-left", "a"]);
});

test("directories count with what is in them; links are not followed, and nothing outside is touched", async () => {
  await cache.write("trees/one/list", "x".repeat(3000));
  const outside = await cache.write("outside", "mine");
  await symlink(cache.dir, cache.path("trees/link"));
  const sizes = new Map(listCache(cache.path("trees")).map(({ name, bytes }) => [name, bytes]));
  expect(sizes.get("one")).toBeGreaterThanOrEqual(3000);
  expect(sizes.get("link")).toBeLessThan(1000);
  boundCache(cache.path("trees"), { entries: 0, bytes: 0 }, "none");
  expect(readdirSync(cache.path("trees"))).toEqual([]);
  expect((await stat(outside)).size).toBe(4);
  expect(listCache(cache.path("nowhere"))).toEqual([]);
});

test("of three hundred working directories one hundred are remembered, the last ones used", async () => {
  const work = await makeWorkspace({ "a.txt": "1" });
  const tree = await scanTree(work.dir, ["."]);
  const later = Date.now() + 60_000;
  for (let n = 0; n < 300; n++) {
    await rememberTree(cache.dir, { ...tree, dir: `/w/${n}` });
    const digests = new DigestMemory(cache.dir, `/w/${n}`, later);
    await scanTree(work.dir, ["."], { digests });
    digests.save();
    for (const sort of ["trees", "digests"]) {
      const names = readdirSync(cache.path(sort));
      expect(names.length).toBeLessThanOrEqual(100);
      if (n < 100) for (const name of names) await utimes(cache.path(sort, name), n, n);
    }
  }
  const isKnown = async (n: number) => {
    const digests = new DigestMemory(cache.dir, `/w/${n}`, later);
    const stats = await stat(work.path("a.txt"), { bigint: true });
    return digests.recall("a.txt", stats) !== null;
  };
  expect([await isKnown(0), await isKnown(150), await isKnown(250), await isKnown(299)]).toEqual([
    false,
    false,
    true,
    true,
  ]);
  await work.remove();
});

test("a directory that is used, though nothing in it changes, is not the oldest", async () => {
  const work = await makeWorkspace({ "a.txt": "1" });
  const scan = async () => {
    const digests = new DigestMemory(cache.dir, work.dir, Date.now() + 60_000);
    await scanTree(work.dir, ["."], { digests });
    digests.save();
  };
  await scan();
  const [name = ""] = readdirSync(cache.path("digests"));
  await utimes(cache.path("digests", name), 1000, 1000);
  await scan();
  expect((await stat(cache.path("digests", name))).mtimeMs).toBeGreaterThan(1e12);
  await work.remove();
});

test("of many builds ten are kept", async () => {
  for (let n = 0; n < 30; n++) {
    new CodeFile(cache.path("code"), `build${n}`).save({ code: Buffer.from(`${n}`), extent: 1 });
    for (const name of readdirSync(cache.path("code"))) {
      const { mtimeMs } = await stat(cache.path("code", name));
      await utimes(cache.path("code", name), mtimeMs / 1000 - 10, mtimeMs / 1000 - 10);
    }
  }
  expect(readdirSync(cache.path("code"))).toHaveLength(10);
  expect(new CodeFile(cache.path("code"), "build29").load()).not.toBeNull();
  expect(new CodeFile(cache.path("code"), "build19").load()).toBeNull();
});

test("several processes that write at the same time disturb neither each other nor the limit", async () => {
  const script = cache.path("writer.mjs");
  await build({
    stdin: {
      contents: `
        import { DigestMemory } from "./src/remote/tree/digest-memory.js";
        import { statSync } from "node:fs";
        const [, , cache, who] = process.argv;
        const stats = statSync(cache, { bigint: true });
        for (let n = 0; n < 150; n++) {
          const digests = new DigestMemory(cache, "/w/" + who + n, Date.now() + 60000);
          digests.note("a", { ...stats, size: 1n }, { sha256: "f".repeat(64), size: 1 });
          digests.save();
        }`,
      resolveDir: process.cwd(),
    },
    bundle: true,
    platform: "node",
    format: "esm",
    outfile: script,
    logLevel: "silent",
  });
  await mkdir(cache.path("shared"));
  const run = (who: string) => promisify(execFile)(process.execPath, [script, cache.path("shared"), who]);
  const ended = await Promise.all(["a", "b", "c"].map(run));
  expect(ended.map(({ stderr }) => stderr)).toEqual(["", "", ""]);
  const names = readdirSync(cache.path("shared/digests"));
  // Each may have written one after the last look of the others.
  expect(names.length).toBeLessThanOrEqual(103);
  expect(names.length).toBeGreaterThanOrEqual(95);
  expect(names.filter((name) => !/^[0-9a-f]{40}$/.test(name))).toEqual([]);
  await rm(script);
});
