// The working directory as it is now, together with what is remembered of it.

import { scanTree, type Tree } from "../remote/tree.js";
import { recallTrees, rememberTree } from "../remote/tree-memory.js";
import type { Surroundings } from "./surroundings.js";

export async function readTree(
  { cwd, cacheDir }: Surroundings,
  copyForward: readonly string[],
): Promise<Tree> {
  const tree = await scanTree(cwd, copyForward);
  const earlier = await recallTrees(cacheDir, cwd);
  await rememberTree(cacheDir, tree);
  return { ...tree, earlier };
}
