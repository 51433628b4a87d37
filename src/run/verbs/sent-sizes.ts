// Counts how much is sent to each machine, over all trees.

import type { Tree } from "../../remote/tree/tree.js";

export class SentSizes {
  readonly #byMachine = new Map<string, Map<string, number>>();

  /** Counts each tree once. Returns the sum for the machine. */
  add(machine: string, { hash }: Pick<Tree, "hash">, bytes: number): number {
    const sizes = this.#byMachine.get(machine) ?? new Map<string, number>();
    this.#byMachine.set(machine, sizes.set(hash, bytes));
    return [...sizes.values()].reduce((sum, each) => sum + each, 0);
  }
}
