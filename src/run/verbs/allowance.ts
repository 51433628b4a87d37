// Decides whether a machine may be sent so much: by a limit, by asking the user, or with a warning only.

import type { Tree } from "../../remote/tree/tree.js";
import type { Emit } from "../loop.js";
import { askAboutSize, refuseSize, warnOfSize } from "./large-tree.js";
import { SentSizes } from "./sent-sizes.js";
import type { SendingLimits } from "./terms.js";

const NO_LIMITS: SendingLimits = { maxBytes: null, confirm: null };

export class Allowance {
  readonly #limits: SendingLimits;
  readonly #sizes = new SentSizes();
  /** The user's answer to the question whether to send this much. */
  #answer: Promise<boolean> | null = null;
  #isTold = false;

  constructor(limits: SendingLimits = NO_LIMITS) {
    this.#limits = limits;
  }

  /**
   * Rejects with UserError, which ends the run: a tree that is too large for one machine is too large for all that lack
   * it.
   */
  async ask(machine: string, tree: Tree, bytes: number): Promise<void> {
    const { maxBytes, confirm } = this.#limits;
    const total = this.#sizes.add(machine, tree, bytes);
    if (maxBytes !== null && total > maxBytes) throw refuseSize(tree, total, { machine, maxBytes });
    const question = maxBytes === null && confirm !== null ? askAboutSize(tree, total) : null;
    if (question === null || confirm === null) return;
    this.#answer ??= confirm(question);
    if (!(await this.#answer)) throw refuseSize(tree, total, { machine, maxBytes: null });
  }

  /** Warns of a large tree that is about to be sent, if there is neither a limit nor a question. */
  tell(machine: string, { tree, bytes }: { tree: Tree; bytes: number }, emit: Emit): void {
    const { maxBytes, confirm } = this.#limits;
    if (maxBytes !== null || confirm !== null) return;
    const total = this.#sizes.add(machine, tree, bytes);
    const message = this.#isTold ? null : warnOfSize(tree, total);
    if (message === null) return;
    this.#isTold = true;
    emit({ kind: "warning", message });
  }
}
