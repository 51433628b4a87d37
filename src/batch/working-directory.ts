// What jobs begin with: the working directory as it is now, or parts of it, together with what is remembered of it.

import { realpathSync, statSync } from "node:fs";
import path from "node:path";
import type { BatchSettings } from "../model/batch.js";
import { type Job, treeKeyOf } from "../model/job.js";
import { DigestMemory } from "../remote/tree/digest-memory.js";
import { type IsFollowed, noTree, scanTree, type Tree } from "../remote/tree/tree.js";
import { recallTrees, rememberTree } from "../remote/tree/tree-memory.js";
import type { Surroundings } from "./surroundings.js";

type Copying = Pick<BatchSettings, "inPlace" | "copyForward" | "exclude">;

/**
 * What the jobs begin with, read one after the other, so that a file that several trees have is read once. `followed`: a file that jobs
 * are read from while it grows; it never travels. Null: there is none.
 */
export function readTrees(
  { cwd, cacheDir }: Surroundings,
  settings: Copying,
  jobs: readonly Job[],
  followed: string | null = null,
): Map<string, Promise<Tree>> {
  const isFollowed = isFollowing(cwd, followed);
  const digests = cacheDir === null ? null : new DigestMemory(cacheDir, cwd);
  const wanted = new Map(jobs.map((job) => [treeKeyOf(job), job.copyForward]));
  // Jobs that come later have nothing of their own.
  if (jobs.length === 0) wanted.set(treeKeyOf({}), undefined);
  const read = async (own: readonly string[] | undefined): Promise<Tree> => {
    if (own === undefined && settings.inPlace !== null) return noTree(cwd);
    const paths = own ?? settings.copyForward;
    if (paths.length === 0) return noTree(cwd);
    const tree = await scanTree(cwd, paths, { digests, isFollowed, exclude: settings.exclude });
    if (cacheDir === null) return tree;
    const earlier = await recallTrees(cacheDir, cwd);
    await rememberTree(cacheDir, tree, wanted.size);
    return { ...tree, earlier };
  };
  const trees = new Map<string, Promise<Tree>>();
  let last: Promise<unknown> = Promise.resolve();
  for (const [key, own] of wanted) {
    const tree = last.then(() => read(own));
    // Each is heard by the run, while machines are connected to.
    last = tree.catch(() => {});
    trees.set(key, tree);
  }
  void last.then(() => digests?.save());
  return trees;
}

/** By its name, since it may be rotated; by where links lead; and by its inode, since it may have several names. */
function isFollowing(cwd: string, followed: string | null): IsFollowed {
  if (followed === null) return () => false;
  const named = path.resolve(cwd, followed);
  try {
    const real = realpathSync(named);
    const { dev, ino } = statSync(named, { bigint: true });
    return (full, stats) => full === named || full === real || (stats.dev === dev && stats.ino === ino);
  } catch {
    return (full) => full === named; // it is being rotated
  }
}
