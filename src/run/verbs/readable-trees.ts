// All trees of a batch together.

import { bytesOf, type Tree } from "../../remote/tree/tree.js";
import type { Terms } from "./terms.js";

/** Resolves when all trees were read. One that cannot be read may belong to a finished job, and is skipped. */
export async function readable(trees: Terms["trees"]): Promise<Tree[]> {
  const read = await Promise.allSettled(trees.values());
  return read.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
}

/** A path that several trees have counts as one file. */
export function joinTrees(trees: readonly Tree[]): Pick<Tree, "entries" | "bytes" | "leftOut" | "warnings"> {
  const byPath = new Map(trees.flatMap((tree) => tree.entries.map((entry) => [entry.path, entry])));
  const entries = [...byPath.values()];
  const leftOut = [...new Set(trees.flatMap((tree) => tree.leftOut))].sort();
  const warnings = [...new Set(trees.flatMap((tree) => tree.warnings ?? []))];
  return { entries, bytes: bytesOf(entries), leftOut, warnings };
}
