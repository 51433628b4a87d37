// The working directory as it is now, together with what is remembered of it.

import { realpathSync, statSync } from "node:fs";
import path from "node:path";
import type { BatchSettings } from "../model/batch.js";
import { DigestMemory } from "../remote/tree/digest-memory.js";
import { type IsFollowed, noTree, scanTree, type Tree } from "../remote/tree/tree.js";
import { recallTrees, rememberTree } from "../remote/tree/tree-memory.js";
import type { Surroundings } from "./surroundings.js";

/** `followed`: a file that jobs are read from while it grows; it never travels. Null: there is none. */
export async function readTree(
  { cwd, cacheDir }: Surroundings,
  { inPlace, copyForward, exclude }: Pick<BatchSettings, "inPlace" | "copyForward" | "exclude">,
  followed: string | null,
): Promise<Tree> {
  if (inPlace !== null) return noTree(cwd);
  const isFollowed = isFollowing(cwd, followed);
  if (cacheDir === null) return scanTree(cwd, copyForward, { isFollowed, exclude });
  const digests = new DigestMemory(cacheDir, cwd);
  const tree = await scanTree(cwd, copyForward, { digests, isFollowed, exclude });
  digests.save();
  const earlier = await recallTrees(cacheDir, cwd);
  await rememberTree(cacheDir, tree);
  return { ...tree, earlier };
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
