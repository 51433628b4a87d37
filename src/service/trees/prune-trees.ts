// Removes frozen working directories that no job needs. Other processes may freeze trees at the same time.

import { lstatSync, readdirSync, renameSync, type Stats } from "node:fs";
import { rm, unlink } from "node:fs/promises";
import path from "node:path";
import { frozenTreePath, REMOVED, removedTreePath, type TreeStore, wordOf } from "./tree-store.js";

/** A command enqueues its job within this time after it has frozen the tree. */
const GRACE_MS = 3_600_000;
/** Longer than it takes to freeze any tree. */
const DRAFT_MS = 24 * 3_600_000;

/** Returns the names of the removed trees. Only one process may prune at a time: the service. */
export async function pruneTrees(
  store: TreeStore,
  hashesInUse: ReadonlySet<string>,
  now: number,
): Promise<string[]> {
  await clearDrafts(store, now);
  const used = new Set([...hashesInUse].map(wordOf));
  const unused = readdirSync(store.trees).filter((hash) => !used.has(hash) && !isLeased(store, hash, now));
  const removed: string[] = [];
  for (const hash of unused) if (await removeTree(store, hash, now)) removed.push(hash);
  for (const hash of readdirSync(store.leases))
    if (!isLeased(store, hash, now) && look(frozenTreePath(store, hash)) === null)
      await rm(path.join(store.leases, hash), { force: true });
  await pruneObjects(store, now);
  return removed;
}

function isLeased({ leases }: TreeStore, hash: string, now: number): boolean {
  return isYoung(look(path.join(leases, hash))?.mtimeMs, now, GRACE_MS);
}

/** A clock may have been set back: a time in the future counts as young for as long as it may differ. */
function isYoung(atMs: number | undefined, now: number, mostMs: number): boolean {
  return atMs !== undefined && Math.abs(now - atMs) < mostMs;
}

/** Out of sight first. A process may have found it just before: then it has renewed the lease, and the tree goes back. */
async function removeTree(store: TreeStore, hash: string, now: number): Promise<boolean> {
  const away = removedTreePath(store, hash);
  renameSync(frozenTreePath(store, hash), away);
  if (isLeased(store, hash, now) && putBack(store, hash, away)) return false;
  await rm(away, { recursive: true, force: true });
  return true;
}

/** False: it was frozen anew. */
function putBack(store: TreeStore, hash: string, away: string): boolean {
  try {
    renameSync(away, frozenTreePath(store, hash));
    return true;
  } catch {
    return false;
  }
}

/** Those of processes that were killed. */
async function clearDrafts(store: TreeStore, now: number): Promise<void> {
  for (const name of readdirSync(store.drafts)) {
    const file = path.join(store.drafts, name);
    const hash = name.startsWith(REMOVED) ? name.slice(REMOVED.length) : null;
    if (hash !== null && isLeased(store, hash, now) && putBack(store, hash, file)) continue;
    if (hash === null && isYoung(look(file)?.ctimeMs, now, DRAFT_MS)) continue;
    await rm(file, { recursive: true, force: true });
  }
}

/** A process that is about to link one that is removed here copies its file again. */
async function pruneObjects({ objects }: TreeStore, now: number): Promise<void> {
  for (const name of readdirSync(objects)) {
    const file = path.join(objects, name);
    const found = look(file);
    if (found?.nlink === 1 && !isYoung(found.ctimeMs, now, GRACE_MS)) await unlink(file);
  }
}

function look(file: string): Stats | null {
  return lstatSync(file, { throwIfNoEntry: false }) ?? null;
}
