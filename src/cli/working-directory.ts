// The working directory as it is now, together with what is remembered of it.

import type { BatchSettings } from "../model/batch.js";
import { DigestMemory } from "../remote/digest-memory.js";
import { noTree, scanTree, type Tree } from "../remote/tree.js";
import { recallTrees, rememberTree } from "../remote/tree-memory.js";
import type { Surroundings } from "./surroundings.js";

export async function readTree(
  { cwd, cacheDir }: Surroundings,
  { inPlace, copyForward }: Pick<BatchSettings, "inPlace" | "copyForward">,
): Promise<Tree> {
  if (inPlace !== null) return noTree(cwd);
  if (cacheDir === null) return scanTree(cwd, copyForward);
  const digests = new DigestMemory(cacheDir, cwd);
  const tree = await scanTree(cwd, copyForward, digests);
  digests.save();
  const earlier = await recallTrees(cacheDir, cwd);
  await rememberTree(cacheDir, tree);
  return { ...tree, earlier };
}
