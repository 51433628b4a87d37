// Sends trees to a machine, each once. If all jobs share one tree, the machine is asked about it before it is known
// whether the machine gets a job. If the tree is small, the missing part is sent at once. A tiny one travels with the jobs.

import type { News } from "../../model/event.js";
import { FileChanged } from "../../remote/tree/cargo.js";
import { rereadTree } from "../../remote/tree/reread-tree.js";
import { stage } from "../../remote/tree/stage.js";
import type { Tree } from "../../remote/tree/tree.js";
import { unstage } from "../../remote/tree/unstage.js";
import { deferred } from "../../transport/deferred.js";
import type { Session } from "../../transport/session.js";
import type { Emit } from "../loop.js";
import { Allowance } from "./allowance.js";
import { entriesOf, isTiny, type Provided } from "./carried-tree.js";
import type { MachineLink } from "./machine-link.js";
import { joinTrees, readable } from "./readable-trees.js";
import type { Terms } from "./terms.js";

/** How long the answer "it is there" counts. Another client may clean away a tree that was unused for ten minutes. */
const ANSWER_COUNTS_MS = 60_000;

/** Below this size the tree is sent at once, because waiting for the decision would take longer. */
const SMALL_BYTES = 1 << 20;

/** A staging that waits for the decision to continue, before it sends anything or at least before it reports it. */
interface Prepared {
  /** Of the tree. */
  readonly key: string;
  readonly at: number;
  hasFailed: boolean;
  readonly isSent: Promise<Staged>;
  readonly goAhead: () => void;
  readonly cancel: AbortController;
}

interface Staged {
  /** The tree that is on the machine now. */
  readonly tree: Tree;
  /** The machine did not have it before. */
  readonly isSent: boolean;
}

export class Stager {
  readonly #terms: Pick<Terms, "trees" | "settings" | "sending">;
  readonly #prepared = new WeakMap<Session, Prepared>();
  /** For a tree whose files changed before they were sent: the tree that is sent instead, the same to all machines. */
  readonly #successors = new WeakMap<Tree, Promise<Tree>>();
  readonly #allowance: Allowance;
  #isTreeTold = false;

  constructor(terms: Pick<Terms, "trees" | "settings" | "sending">) {
    this.#terms = terms;
    this.#allowance = new Allowance(terms.sending);
  }

  /** Does nothing if it is unknown which of several trees the machine needs, or if the tree travels with the jobs. */
  prepare(link: MachineLink, emit: Emit): void {
    const [only, ...others] = this.#terms.trees.keys();
    if (only === undefined || others.length > 0) return;
    const { session } = link;
    const begin = (tree: Tree) => {
      if (!isTiny(tree) && !link.isLost && link.session === session)
        this.#prepared.set(session, this.#begin(link, only, emit));
    };
    this.#tree(only).then(begin, () => {}); // reported when jobs are handed over, if ever
  }

  /** Asks the machine what it has of the tree, and sends at most a small archive. */
  #begin(link: MachineLink, key: string, emit: Emit): Prepared {
    const { session, place } = link;
    const cancel = new AbortController();
    const signal = AbortSignal.any([link.signal, cancel.signal]);
    const { promise: goAhead, resolve } = deferred<void>();
    const untold: News[] = [];
    let tell: Emit = (news) => untold.push(news);
    const isSent = this.#tree(key).then((tree) => {
      if (tree.bytes <= SMALL_BYTES) resolve();
      return this.#settle(tree, emit, (current) => {
        const onProgress = this.#progressOf(link, current, (news) => tell(news));
        const allow = (bytes: number) => this.#allowance.ask(link.spec.name, current, bytes);
        return stage(session, { place, tree: current, signal, goAhead, allow, onProgress });
      });
    });
    const proceed = () => {
      tell = emit;
      for (const news of untold) emit(news);
      resolve();
    };
    const prepared: Prepared = {
      key,
      at: performance.now(),
      hasFailed: false,
      isSent,
      goAhead: proceed,
      cancel,
    };
    isSent.catch(() => {
      prepared.hasFailed = true; // reported when jobs are handed over, if ever
    });
    return prepared;
  }

  #tree(key: string): Promise<Tree> {
    const tree = this.#terms.trees.get(key);
    if (tree === undefined) throw new Error(`no tree ${key} in this run`);
    return tree;
  }

  /** Sends a tree, or its successor if files change in the meantime. */
  async #settle(first: Tree, emit: Emit, send: (tree: Tree) => Promise<boolean>): Promise<Staged> {
    for (let tree = first; ; ) {
      if (tree.hash === "") return { tree, isSent: false };
      try {
        return { tree, isSent: await send(tree) };
      } catch (error) {
        if (!(error instanceof FileChanged)) throw error;
        tree = await this.#succeed(tree, error.path, emit);
      }
    }
  }

  #succeed(tree: Tree, changed: string, emit: Emit): Promise<Tree> {
    const known = this.#successors.get(tree);
    if (known !== undefined) return known;
    const successor = rereadTree(tree, changed);
    this.#successors.set(tree, successor);
    void successor.then((next) => tellWarnings(next, emit));
    return successor;
  }

  /**
   * The machine gets no job, so the tree that was sent in advance is removed. If that fails, it is cleaned later as
   * other trees are.
   */
  async withdraw({ session, place, signal }: MachineLink): Promise<void> {
    const prepared = this.#takePrepared(session);
    const [tree] = await readable(this.#terms.trees);
    if (prepared === null || tree === undefined || tree.bytes > SMALL_BYTES) return;
    const staged = await prepared.isSent.catch(() => null);
    if (staged?.isSent) await unstage(session, { place, tree: staged.tree, signal }).catch(() => undefined);
  }

  /** Resolves when the machine has the tree, or when it can travel with the jobs. `key`: from `treeKeyOf`. */
  async provide(link: MachineLink, key: string, emit: Emit): Promise<Provided> {
    this.#tellTrees(await readable(this.#terms.trees), emit);
    const known = link.staged.get(key);
    if (known !== undefined) return { tree: known, carried: null };
    const tree = await this.#tree(key);
    return isTiny(tree)
      ? this.#carry(link, tree, emit)
      : { tree: await this.#stage(link, key, emit), carried: null };
  }

  async #carry(link: MachineLink, first: Tree, emit: Emit): Promise<Provided> {
    let carried: Buffer | null = null;
    const { tree } = await this.#settle(first, emit, async (current) => {
      await this.#allowance.ask(link.spec.name, current, current.bytes);
      carried = entriesOf(current);
      return true;
    });
    return { tree, carried };
  }

  /** The carried tree has arrived. `hadTree`: it was sent in vain. */
  noteCarried(
    link: MachineLink,
    key: string,
    { tree, hadTree }: { tree: Tree; hadTree: boolean },
    emit: Emit,
  ): void {
    const tell = this.#progressOf(link, tree, emit);
    if (hadTree) emit({ kind: "staging", machine: link.spec.name, sentBytes: 0, totalBytes: 0 });
    else for (const bytes of [0, tree.bytes]) tell(bytes, tree.bytes);
    this.#noteStaged(link, key, tree, emit);
  }

  #noteStaged(link: MachineLink, key: string, tree: Tree, emit: Emit): void {
    link.staged.set(key, tree);
    emit({ kind: "staged", machine: link.spec.name });
  }

  async #stage(link: MachineLink, key: string, emit: Emit): Promise<Tree> {
    const machine = link.spec.name;
    const prepared = this.#takePrepared(link.session, key) ?? this.#begin(link, key, emit);
    prepared.goAhead();
    const { tree, isSent } = await prepared.isSent;
    if (!isSent && tree.hash !== "") emit({ kind: "staging", machine, sentBytes: 0, totalBytes: 0 });
    this.#noteStaged(link, key, tree, emit);
    return tree;
  }

  /** Used once: if it fails, or has failed before it was needed, the next staging starts again. */
  #takePrepared(session: Session, key?: string): Prepared | null {
    const prepared = this.#prepared.get(session);
    // A job with files of its own may arrive before the first one that starts with those of the batch.
    if (prepared === undefined || (key !== undefined && prepared.key !== key)) return null;
    this.#prepared.delete(session);
    if (!prepared.hasFailed && performance.now() - prepared.at < ANSWER_COUNTS_MS) return prepared;
    prepared.cancel.abort();
    return null;
  }

  #progressOf(link: MachineLink, tree: Tree, emit: Emit): (sentBytes: number, totalBytes: number) => void {
    let told = 0;
    return (sentBytes, totalBytes) => {
      if (sentBytes === 0) this.#allowance.tell(link.spec.name, { tree, bytes: totalBytes }, emit);
      else if (sentBytes < totalBytes && sentBytes - told < 1 << 20) return;
      told = sentBytes;
      emit({ kind: "staging", machine: link.spec.name, sentBytes, totalBytes });
    };
  }

  /** Reports all of them as one. */
  #tellTrees(trees: readonly Tree[], emit: Emit): void {
    const isAnyCopied = this.#terms.settings.inPlace === null || trees.some(({ hash }) => hash !== "");
    if (this.#isTreeTold || !isAnyCopied) return;
    this.#isTreeTold = true;
    const all = trees.length === 1 ? (trees[0] as Tree) : joinTrees(trees);
    const { entries, bytes, leftOut } = all;
    const files = entries.filter(({ type }) => type !== "Directory").length;
    emit({ kind: "tree-read", files, bytes, leftOut });
    tellWarnings(all, emit);
  }
}

function tellWarnings({ warnings = [] }: Pick<Tree, "warnings">, emit: Emit): void {
  for (const message of warnings) emit({ kind: "warning", message });
}
