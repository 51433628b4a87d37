// Reads what jobs start with: the working directory as it is now, or parts of it, with what is remembered about it.

import { realpathSync, statSync } from "node:fs";
import path from "node:path";
import type { BatchSettings } from "../../model/batch.js";
import { type Job, type OwnFiles, treeKeyOf } from "../../model/job.js";
import { DigestMemory } from "../../remote/tree/digest-memory.js";
import { type IsFollowed, noTree, scanTree, type Tree } from "../../remote/tree/tree.js";
import { recallTrees, rememberTree } from "../../remote/tree/tree-memory.js";
import type { Surroundings } from "../surroundings.js";

type Copying = Pick<BatchSettings, "inPlace" | "copyForward" | "exclude">;

/**
 * The trees of the jobs, read one after the other, so that a file in several trees is read once. `followed`: a growing
 * file with jobs, which is never sent; null: there is none.
 */
export function readTrees(
  surroundings: Surroundings,
  settings: Copying,
  jobs: readonly Job[],
  followed: string | null = null,
): Map<string, Promise<Tree>> {
  const wanted = new Map(jobs.map((job) => [treeKeyOf(job), job.copyForward]));
  // Most jobs that arrive later have no paths of their own.
  if (jobs.length === 0) wanted.set(treeKeyOf({}), undefined);
  const { read, save } = scanner(surroundings, settings, followed);
  const trees = new Map<string, Promise<Tree>>();
  let last: Promise<unknown> = Promise.resolve();
  for (const [key, own] of wanted) {
    const tree = last.then(() => read(own, wanted.size));
    // The run handles errors of each tree, while machines are connected.
    last = tree.catch(() => {});
    trees.set(key, tree);
  }
  void last.then(save);
  return trees;
}

/** How many trees of jobs that arrive are remembered for the next batch. */
const REMEMBERED = 8;

/** Reads the paths of a job that arrives, as they are then. */
export function treeReader(
  surroundings: Surroundings,
  settings: Copying,
  followed: string | null,
): (own: OwnFiles) => Promise<Tree> {
  return async ({ copyForward }) => {
    const { read, save } = scanner(surroundings, settings, followed);
    const tree = await read(copyForward, REMEMBERED);
    save();
    return tree;
  };
}

/** `own`: undefined for those of the batch. `most`: how many trees of this directory are remembered. */
function scanner({ cwd, cacheDir }: Surroundings, settings: Copying, followed: string | null) {
  const isFollowed = isFollowing(cwd, followed);
  const digests = cacheDir === null ? null : new DigestMemory(cacheDir, cwd);
  const read = async (own: readonly string[] | undefined, most: number): Promise<Tree> => {
    if (own === undefined && settings.inPlace !== null) return noTree(cwd);
    const paths = own ?? settings.copyForward;
    if (paths.length === 0) return noTree(cwd);
    const tree = await scanTree(cwd, paths, { digests, isFollowed, exclude: settings.exclude });
    if (cacheDir === null) return tree;
    const earlier = await recallTrees(cacheDir, cwd);
    await rememberTree(cacheDir, tree, most);
    return { ...tree, earlier };
  };
  return { read, save: () => digests?.save() };
}

/** Compared by name, because it may be rotated; by the target of links; and by inode, because it may have several names. */
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
