// A tiny tree fits into one packet. It travels with the first jobs that need it, because asking whether the machine has it would
// take longer.

import { shippingOf } from "../../remote/tree/shipping.js";
import type { Tree } from "../../remote/tree/tree.js";

/** A tree for a hand-over. */
export interface Provided {
  readonly tree: Tree;
  /** Its entries, if they travel with the jobs; null: the machine has it. */
  readonly carried: Buffer | null;
}

const MOST_BYTES = 24 << 10;
/** The cost of an entry besides its content. */
const BLOCKS_BYTES = 1024;

export function isTiny({ hash, bytes, entries }: Tree): boolean {
  return hash !== "" && bytes + entries.length * BLOCKS_BYTES <= MOST_BYTES;
}

/** Throws FileChanged. */
export function entriesOf(tree: Tree): Buffer {
  return shippingOf(tree).carried();
}
