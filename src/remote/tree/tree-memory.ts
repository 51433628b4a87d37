// Keeps lists of the trees that were made from a directory, so that after an edit only the edit is sent. A list counts
// only if its hash matches its name; otherwise it is ignored.

import { createHash, randomBytes } from "node:crypto";
import { existsSync, mkdirSync, renameSync, writeFileSync } from "node:fs";
import { readdir, readFile, rm, stat } from "node:fs/promises";
import path from "node:path";
import { boundCache, CACHE_LIMITS } from "../../bound-cache.js";
import { contentOf, type EarlierTree, hashEntries, type ListedEntry, type Tree } from "./tree.js";

/** How many states of a directory are kept; each may be several trees. */
const REMEMBERED = 5;
const MOST_REMEMBERED = 25;
const TREE_NAME = /^[0-9a-f]{40}$/;

/** The trees for `dir` in `cacheDir`, the latest first. */
export async function recallTrees(cacheDir: string, dir: string): Promise<EarlierTree[]> {
  const place = placeFor(cacheDir, dir);
  const names = await latestFirst(place);
  return names.map((hash) => ({ hash, load: () => loadList(path.join(place, hash), hash) }));
}

/**
 * `together`: how many trees of the directory one batch has. A failure is not reported: the tree is only sent as a
 * whole next time.
 */
export async function rememberTree(cacheDir: string, tree: Tree, together = 1): Promise<void> {
  if (tree.hash === "") return;
  const place = placeFor(cacheDir, tree.dir);
  const list = tree.entries.map((entry) => [entry.type, entry.path, entry.mode, contentOf(entry)]);
  const draft = path.join(place, `draft-${randomBytes(6).toString("hex")}`);
  const isFirst = !existsSync(place);
  try {
    // Synchronous, because the process may end in the meantime if nothing else is pending, and would leave the draft.
    mkdirSync(place, { recursive: true, mode: 0o700 });
    writeFileSync(draft, JSON.stringify(list), { mode: 0o600 });
    renameSync(draft, path.join(place, tree.hash));
    if (isFirst) boundCache(path.dirname(place), CACHE_LIMITS.trees, path.basename(place));
    const most = Math.min(REMEMBERED * together, MOST_REMEMBERED);
    for (const old of (await latestFirst(place)).slice(most)) await rm(path.join(place, old));
  } catch {
    await rm(draft, { force: true }).catch(() => undefined);
  }
}

function placeFor(cacheDir: string, dir: string): string {
  return path.join(cacheDir, "trees", createHash("sha256").update(dir).digest("hex").slice(0, 40));
}

async function latestFirst(place: string): Promise<string[]> {
  const names = (await readdir(place).catch(() => [])).filter((name) => TREE_NAME.test(name));
  const aged = await Promise.all(
    names.map(async (name) => {
      const stats = await stat(path.join(place, name)).catch(() => null);
      return { name, mtimeMs: stats?.mtimeMs ?? 0 };
    }),
  );
  return aged.sort((a, b) => b.mtimeMs - a.mtimeMs).map(({ name }) => name);
}

async function loadList(file: string, hash: string): Promise<readonly ListedEntry[] | null> {
  try {
    const rows = JSON.parse(await readFile(file, "utf8")) as [string, string, number, string][];
    const entries = rows.map(toEntry);
    return hashEntries(entries) === hash ? entries : null;
  } catch {
    return null;
  }
}

function toEntry([type, entryPath, mode, content]: [string, string, number, string]): ListedEntry {
  const shared = { path: entryPath, mode };
  if (type === "File") return { ...shared, type, sha256: content };
  if (type === "SymbolicLink") return { ...shared, type, target: content };
  return { ...shared, type: "Directory" };
}
