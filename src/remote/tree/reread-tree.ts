// Makes a tree again after a file changed before it was sent: changed files get their current content, or are left out.

import { lstatSync } from "node:fs";
import path from "node:path";
import { bytesOf, hashEntries, scanTree, type Tree, type TreeEntry } from "./tree.js";

type FileEntry = Extract<TreeEntry, { type: "File" }>;

/**
 * `failed`: the file that could not be sent. A file that was already read again and changed once more is left out, so
 * that this ends. All other files stay as they were when the batch began.
 */
export async function rereadTree(tree: Tree, failed: string): Promise<Tree> {
  const rereads = new Set(tree.rereads);
  const warnings: string[] = [];
  const entries: TreeEntry[] = [];
  for (const entry of tree.entries) {
    if (entry.type !== "File" || (entry.path !== failed && isAsItWas(tree.dir, entry))) {
      entries.push(entry);
      continue;
    }
    const keepsChanging = entry.path === failed && rereads.has(entry.path);
    rereads.add(entry.path);
    const now = keepsChanging ? null : await readAgain(tree.dir, entry.path);
    if (now !== null) entries.push(now);
    if (now?.sha256 !== entry.sha256) warnings.push(describe(entry.path, { now, keepsChanging }));
  }
  return { ...tree, hash: hashEntries(entries), entries, bytes: bytesOf(entries), rereads, warnings };
}

/** Appended text does not matter, because no more is sent than there was. */
function isAsItWas(dir: string, { path: relative, size, mtime }: FileEntry): boolean {
  const stats = lstatSync(path.join(dir, relative), { bigint: true, throwIfNoEntry: false });
  if (stats === undefined || !stats.isFile() || stats.size < size) return false;
  return stats.size > size || stats.mtime.getTime() === mtime.getTime();
}

/** Null if it is gone, is no longer a file, or cannot be read. */
async function readAgain(dir: string, relative: string): Promise<FileEntry | null> {
  const tree = await scanTree(dir, [relative]).catch(() => null);
  const entry = tree?.entries.find((each) => each.path === relative);
  return entry?.type === "File" ? entry : null;
}

function describe(relative: string, how: { now: FileEntry | null; keepsChanging: boolean }): string {
  if (how.keepsChanging) return `${relative} is left out: it keeps changing while it is copied`;
  if (how.now === null) return `${relative} is left out: it was removed, or cannot be read any more`;
  return `${relative} changed while it was copied: jobs get it as it is now`;
}
