// Computes the changes that make a tree from an earlier one that a machine still has. Pure.

import { contentOf, type ListedEntry, type TreeEntry } from "./tree.js";

export interface TreeDifference {
  /** Paths of the earlier tree that are removed; a whole directory only by its own name. */
  readonly removed: readonly string[];
  /** Entries that are added, directories before their content. */
  readonly sent: readonly TreeEntry[];
  /** How many entries remain after the removal. */
  readonly kept: number;
}

/** Null if removing and adding is not enough, because an affected directory is not writable. */
export function diffTrees(
  earlier: readonly ListedEntry[],
  entries: readonly TreeEntry[],
): TreeDifference | null {
  const before = new Map(earlier.map((entry) => [entry.path, entry]));
  const after = new Map(entries.map((entry) => [entry.path, entry]));
  const sent = new Set<string>();
  const gone = new Set<string>();
  let kept = 0;
  for (const entry of entries) {
    const old = before.get(entry.path);
    const isSame = old !== undefined && old.type === entry.type && contentOf(old) === contentOf(entry);
    if (isSame && (old.mode === entry.mode || entry.type === "Directory")) kept++;
    else if (old !== undefined) gone.add(entry.path);
    if (!isSame || old.mode !== entry.mode) sent.add(entry.path);
  }
  for (const { path } of earlier) if (!after.has(path)) gone.add(path);
  // Adding or removing an entry changes the time stamp of its directory.
  for (const path of [...sent, ...gone]) {
    const parent = parentOf(path);
    if (!isOpen(before.get(parent)) || !isOpen(after.get(parent))) return null;
    if (after.get(parent)?.type === "Directory") sent.add(parent);
  }
  return {
    removed: [...gone].filter((path) => !gone.has(parentOf(path))).sort(),
    sent: entries.filter(({ path }) => sent.has(path)),
    kept,
  };
}

function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("/")));
}

/** True if its owner may read, write and enter it. */
function isOpen(entry: ListedEntry | undefined): boolean {
  return entry?.type !== "Directory" || (entry.mode & 0o700) === 0o700;
}
