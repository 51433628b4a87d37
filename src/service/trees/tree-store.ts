// Where frozen working directories are, below trees/ of the service's state:
//   trees/<hash>/       a tree; its files are hard links to objects
//   objects/<content>   one file for equal content and mode
//   leases/<hash>       its time says when the tree was last frozen
//   drafts/             what is being made or removed

import { mkdirSync, utimesSync, writeFileSync } from "node:fs";
import path from "node:path";

export interface TreeStore {
  readonly trees: string;
  readonly objects: string;
  readonly leases: string;
  readonly drafts: string;
}

export function openTreeStore(dir: string): TreeStore {
  const store = {
    trees: path.join(dir, "trees"),
    objects: path.join(dir, "objects"),
    leases: path.join(dir, "leases"),
    drafts: path.join(dir, "drafts"),
  };
  // The modes of frozen files are those of the user's files, so no other account may enter above them.
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  for (const each of Object.values(store)) mkdirSync(each, { recursive: true, mode: 0o700 });
  return store;
}

/** An empty directory has no hash. */
export function frozenTreePath({ trees }: Pick<TreeStore, "trees">, hash: string): string {
  return path.join(trees, wordOf(hash));
}

export const REMOVED = "removed-";

/** Where it is while it is removed: the longest of its paths. */
export function removedTreePath({ drafts }: Pick<TreeStore, "drafts">, hash: string): string {
  return path.join(drafts, `${REMOVED}${wordOf(hash)}`);
}

/** The tree is needed from now on, although no job in the record has it yet. */
export function renewLease({ leases }: TreeStore, hash: string, now: number): void {
  const file = path.join(leases, wordOf(hash));
  writeFileSync(file, "", { mode: 0o600 });
  utimesSync(file, now / 1000, now / 1000);
}

export function wordOf(hash: string): string {
  return hash === "" ? "empty" : hash;
}
