// Plans how a tree is sent to machines: as a whole, or as changes to an earlier tree that they have. Made once for all
// machines.

import { Cargo } from "./cargo.js";
import type { Tree } from "./tree.js";
import { diffTrees, type TreeDifference } from "./tree-difference.js";

export interface Shipment {
  readonly cargo: Cargo;
  /** Null: the machine has nothing of it. */
  readonly from: (Omit<TreeDifference, "sent"> & { readonly hash: string }) | null;
}

/** Names are read on the machine byte by byte. More than this many bytes of names are slower than sending everything. */
const MAX_REMOVED_BYTES = 1 << 16;
/** The cost of an entry besides its content. */
const ENTRY_BYTES = 1024;

const shippings = new WeakMap<Tree, Shipping>();

/** Shared by all callers that have the same tree. */
export function shippingOf(tree: Tree): Shipping {
  const shipping = shippings.get(tree) ?? new Shipping(tree);
  shippings.set(tree, shipping);
  return shipping;
}

export class Shipping {
  readonly tree: Tree;
  readonly #made = new Map<string, Promise<Shipment | null>>();
  #carried: Buffer | null = null;

  constructor(tree: Tree) {
    this.tree = tree;
  }

  /** Earlier trees that a machine may still have. */
  get bases(): readonly string[] {
    return (this.tree.earlier ?? []).map(({ hash }) => hash).filter((hash) => hash !== this.tree.hash);
  }

  /** The last entry of the archive. No file of the user can have a name with the hash of its own content. */
  get wholeMark(): string {
    return `.whole-${this.tree.hash}`;
  }

  /** The cheapest way if the machine has some of `bases`. */
  async choose(bases: readonly string[]): Promise<Shipment> {
    const made = await Promise.all(bases.map((hash) => this.#from(hash)));
    const found = made.filter((one) => one !== null);
    const [best] = found.sort((a, b) => a.cargo.bytes - b.cargo.bytes);
    return best ?? this.whole();
  }

  /** All of it as entries below `tree/`, for the archive of a hand-over. Throws FileChanged. */
  carried(): Buffer {
    const { dir, entries } = this.tree;
    this.#carried ??= new Cargo(dir, entries, this.wholeMark, "tree/").withoutEnd();
    return this.#carried;
  }

  async whole(): Promise<Shipment> {
    const { tree } = this;
    return this.#once("", async () => ({
      cargo: new Cargo(tree.dir, tree.entries, this.wholeMark),
      from: null,
    })) as Promise<Shipment>;
  }

  #from(hash: string): Promise<Shipment | null> {
    return this.#once(hash, async () => {
      const { tree } = this;
      const earlier = await tree.earlier?.find((one) => one.hash === hash)?.load();
      const difference = earlier ? diffTrees(earlier, tree.entries) : null;
      if (difference === null) return null;
      const { sent, ...from } = difference;
      const cargo = new Cargo(tree.dir, sent, this.wholeMark);
      const cost = cargo.bytes + ENTRY_BYTES * sent.length;
      const isWorthIt = 2 * cost <= tree.bytes + ENTRY_BYTES * tree.entries.length;
      const isShort = Buffer.byteLength(from.removed.join("\n")) <= MAX_REMOVED_BYTES;
      return isWorthIt && isShort ? { cargo, from: { ...from, hash } } : null;
    });
  }

  #once(key: string, make: () => Promise<Shipment | null>): Promise<Shipment | null> {
    const made = this.#made.get(key) ?? make();
    this.#made.set(key, made);
    return made;
  }
}
